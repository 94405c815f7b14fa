package check

import (
	"io/fs"
	"time"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/gitops/kustomize"
	"github.com/acme/knative-promote/gitops/signing"
	"github.com/acme/knative-promote/promote/policy"
	"github.com/acme/knative-promote/promote/record"
	"github.com/acme/knative-promote/promote/review"
)

// Facts are what a promotion would meet. A zero field was not read, and no
// rule concludes anything from it.
type Facts struct {
	Request Request
	Commit  string         // the branch's tip
	Tree    fs.FS          // its files
	Overlay *knative.State // the overlay as it renders at the tip
	Next    *knative.State // the same with the images set; Overlay when there are none

	// Before is the overlay before a change that is proposed, of which the others are
	// the outcome. Nil: there is none, and what Overlay renders is there already.
	Before *knative.State

	// Added is what a change that is proposed brings to the infra repository or alters there. Nil:
	// there is none.
	Added []Added

	// Recorded is what is wrong with a record that a change that is proposed writes.
	Recorded Recorded

	// Planned is the overlay as the commits of the promotion render it, in order:
	// the first one and the last. Those between differ in two numbers.
	Planned []*knative.State

	// Policies are what those of the infra repository say of them.
	Policies policy.Answer

	// ImageEffects are what comes of setting each image of the Service, by its name.
	ImageEffects map[string]knative.ImageEffect

	// Outside are files that the overlay reads from beside the kustomization that
	// names them, for which kustomize needs an option.
	Outside []string

	// Reads are the files that the overlay is rendered from.
	Reads []string

	// Differs is what in the overlay other versions of kustomize render otherwise than this program.
	Differs []kustomize.Difference

	// RolledBack says that somebody has rolled the Service back in Argo CD from what the tip
	// says; empty: nobody has, or it cannot be told.
	RolledBack string

	// Deployed is the record of the commit that Argo CD has deployed last, where others have
	// the traffic than Git says.
	Deployed record.Record

	// Given are the shares that the commit gives which Argo CD has deployed last; nil: nobody
	// knows. It is only asked where others have the traffic than Git says.
	Given func() map[string]int

	Setup   argo.Setup         // how Argo CD treats the Application
	Service *servingv1.Service // live

	// Revisions that the rendered traffic names, or the live one: whether each one
	// exists in the cluster. One that could not be asked for is absent.
	Revisions map[string]bool

	// Unlisted is the live Service's latest ready revision, where Argo CD has none of that name.
	Unlisted string

	// NotReady says of those that exist and are not Ready why, in words that follow
	// the name, such as `is not Ready (ExitCode1: Container failed)`.
	NotReady map[string]string

	// WaitsForPods are those of them of which the cluster takes no further pod for now; others may serve.
	WaitsForPods map[string]bool

	// Missing are what pods of those that exist need to start, and neither the overlay has nor its
	// template names.
	Missing map[string][]knative.Reference

	// Windows are the infra repository's. The preflight has none: a promotion asks
	// them before each commit.
	Windows Windows

	// Pipeline is the infra repository's. The preflight has none: a promotion asks it
	// before each commit.
	Pipeline Pipeline

	// Push is why the Git server would not take a push; nil where it would, or
	// where it was not asked (PushAsked).
	Push      error
	PushAsked bool

	// Otherwise is what Argo CD renders otherwise of the overlay at the tip, as knative.Otherwise
	// words it; Rendered tells that it has rendered that.
	Otherwise []string
	Rendered  bool

	// Namesakes are what Argo CD may deploy in the branch's place.
	Namesakes gitops.Namesakes

	// Branch are the forge's rules of the infra repository's branch.
	Branch review.Rules

	// Refused is why a promotion would end before its first commit, in its own
	// words. Nil: it would not, or this was not found out.
	Refused error

	// Analysis is what is wrong with the AnalysisTemplates that a promotion asks for.
	Analysis []error

	// NoApp is why a promotion could not even read the Application: it does not
	// exist, or not for the token.
	NoApp error

	// Metrics is why the requests of the live revision cannot be counted by the source
	// of slo, which MetricsFrom names. Nil where they can, or where nobody was asked.
	Metrics     error
	MetricsFrom string

	// Latency is the limit of slo where its source counts in buckets. Zero: it does
	// not, or its boundaries are not known.
	Latency Latency

	// Unread says what else could not be read, by name for people, and why.
	Unread map[string]error

	read func() files // the overlay's files, as they are asked for; nil: they are read each time
}

// Request is what the promotion is asked to do, as far as rules need it.
type Request struct {
	argo.Target
	Environment  string
	Overlay      string // its folder
	CandidateTag string
	Also         []string // objects that may move with the image
	Shifts       bool     // traffic goes through steps below 100 %
	KeepPrevious bool
	OnlyThis     bool          // other Applications of the overlay are left alone on purpose
	Strict       bool          // a field that no kind has stops a promotion
	PodSecurity  string        // the pod security standard to hold: baseline, restricted, or empty: none
	Policies     []string      // patterns of the files with policies
	Mode         review.Mode   // how the commits come to the branch
	Merge        review.Merge  // who merges the pull requests
	Signer       *signing.Key  // of the promotion's commits; nil: they are not signed, or ByAPI
	ByAPI        bool          // the forge makes the commits, and signs them
	ForgeKey     string        // id of the OpenPGP key that the forge signs with; empty: not known
	CronJobs     []string      // names of those that an analysis starts
	Probed       bool          // the candidate must answer requests before it gets traffic
	Wait         time.Duration // how long the first gate waits for the first commit
	Worst        time.Duration // the longest that the run and its rollback may take
	Now          time.Time
}
