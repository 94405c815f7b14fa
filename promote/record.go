package promote

import (
	"slices"
	"strconv"
	"time"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/gitops/knative"
)

// A Record is what an overlay's own file says of the promotion that wrote it, in
// comment lines below the first one. It renders to nothing. It is all that a run
// which continues, a rollback and the history read: no commit message, date or
// ancestor decides anything. The zero Record is of an overlay that has none.
type Record struct {
	Format     int       `yaml:"record"`               // 1
	Promotion  string    `yaml:"promotion"`            // id that the commits of a promotion or rollback share
	Repository string    `yaml:"repository,omitempty"` // address of the infra repository that it was written for
	Branch     string    `yaml:"branch,omitempty"`     // of that
	Overlay    string    `yaml:"overlay"`              // folder that it was written in
	Step       string    `yaml:"step"`                 // candidate, 10, 100, restore, rollback
	Percent    int       `yaml:"percent"`              // share of To
	Reached    int       `yaml:"reached"`              // the highest share that To has had
	Tag        string    `yaml:"tag,omitempty"`        // that To has below 100 %
	Passed     time.Time `yaml:"passed,omitempty"`     // when the last gate of the step had passed; zero: not yet
	Commit     string    `yaml:"commit,omitempty"`     // that was live when they had; empty: not yet
	Gate       string    `yaml:"gate,omitempty"`       // that failed, so that the promotion was rolled back; empty: none did
	To         Version   `yaml:"to"`                   // what is promoted, or rolled back to
	From       Version   `yaml:"from,omitempty"`       // what had the traffic before; zero on a first deployment
	Base       string    `yaml:"base,omitempty"`       // commit with the overlay from before; empty: nothing to roll back to
	Started    time.Time `yaml:"started"`
	Run        string    `yaml:"run,omitempty"`          // address of the workflow run
	Actor      string    `yaml:"actor,omitempty"`        // who started it
	Approved   string    `yaml:"approved,omitempty"`     // who has approved of it
	Code       Code      `yaml:",inline"`                // that To was made of
	Source     Source    `yaml:"source,omitempty"`       // the environment that To's images were taken from
	Pull       int       `yaml:"pull-request,omitempty"` // that brought it, by its number; 0: none did
	Cut        bool      `yaml:"cut,omitempty"`          // there were entries before the oldest of Past
	Unknown    string    `yaml:"-"`                      // lines of the keys that only another version knows
	Past       []Entry   `yaml:"-"`                      // what came before, newest first
}

// A Version is a revision and the images of its containers.
type Version struct {
	Revision   string   `yaml:"revision" json:"revision"`
	Images     []string `yaml:"images,omitempty" json:"images,omitempty"`
	InitImages []string `yaml:"init-images,omitempty" json:"init-images,omitempty"`
}

// A Code is the commit of a service's own repository that its images were made of.
type Code struct {
	Commit string    `yaml:"code,omitempty"`    // owner/repository@commit; empty: not known
	At     time.Time `yaml:"code-at,omitempty"` // when it was committed; zero: not known
}

// versionOf is a revision of an overlay's template as it stands.
func versionOf(revision string, state *knative.State) Version {
	return Version{Revision: revision, Images: state.Images(), InitImages: state.InitImages()}
}

// versionOfLive is a live revision with the images that it runs.
func versionOfLive(found *servingv1.Revision) Version {
	return Version{Revision: found.Name, Images: imagesOf(found.Spec.Containers), InitImages: imagesOf(found.Spec.InitContainers)}
}

// sameImages tells whether an overlay runs the images.
func (v Version) sameImages(state *knative.State) bool {
	return slices.Equal(v.Images, state.Images()) && slices.Equal(v.InitImages, state.InitImages())
}

// The bounds of a record.
const (
	recordFormat = 1
	recordLimit  = 32 << 10 // bytes
	pastLimit    = 10       // entries
	wordLimit    = 512      // bytes of a value that is for people
)

// IsZero tells whether there is no version.
func (v Version) IsZero() bool { return v.Revision == "" }

// exists tells whether there is a record.
func (r Record) exists() bool { return r.Promotion != "" }

// passed tells whether the gates of the recorded step have passed.
func (r Record) passed() bool { return !r.Passed.IsZero() }

// is tells whether the record is of this step of this promotion.
func (r Record) is(promotion, step string) bool { return r.Promotion == promotion && r.Step == step }

// rollsBack tells whether the recorded step rolled back.
func (r Record) rollsBack() bool { return rollsBack(r.Step) }

// takesFrom tells whether a promotion of the images of other environments is under
// way, and an overlay still has those: what a person has set since never ran there.
func (r Record) takesFrom(sources []string, now *knative.State) bool {
	underWay := !r.rollsBack() && !(r.Percent == 100 && r.passed())
	elsewhere := slices.ContainsFunc(sources, func(overlay string) bool { return r.Source.of(overlay).IsZero() })
	return underWay && !elsewhere && r.To.sameImages(now)
}

// rolledBackTo is the revision that has the traffic after the recorded step, which
// rolled back: a restore gives it to what had it before.
func (r Record) rolledBackTo() string {
	if r.Step == stepRestore {
		return r.From.Revision
	}
	return r.To.Revision
}

// rolledBackFrom is the revision that had the traffic before the recorded step,
// which rolled back.
func (r Record) rolledBackFrom() string {
	if r.Step == stepRestore {
		return r.To.Revision
	}
	return r.From.Revision
}

// writtenAs is the record as if it had been written when another one of the same
// overlay was, and by the same run.
func (r Record) writtenAs(has Record) Record {
	r.Repository = has.Repository // which has several ways to be written
	r.Started, r.Run, r.Actor, r.Approved, r.Code = has.Started, has.Run, has.Actor, has.Approved, has.Code
	return r
}

// stepOf is a step's name in the record, by the share of the new revision.
func stepOf(percent int) string {
	if percent == 0 {
		return "candidate"
	}
	return strconv.Itoa(percent)
}

// shareOf is the share of the traffic that To has after a step.
func shareOf(step string) int {
	switch step {
	case "candidate", stepRestore:
		return 0
	case stepRollback:
		return 100
	}
	percent, _ := strconv.Atoi(step)
	return percent
}
