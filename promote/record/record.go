// Package record reads and writes what an overlay's own file says of its promotions,
// in comments: how far the newest has come, what came before it, and so what may be
// rolled back to. It is pure: values in, values out.
package record

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/gitops/kustomize"
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
	Moving     []string  `yaml:"moving,omitempty"`     // people's tags that have gone with the traffic: see knative.MovingTags
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

// VersionOf is a revision of an overlay's template as it stands.
func VersionOf(revision string, state *knative.State) Version {
	return Version{Revision: revision, Images: state.Images(), InitImages: state.InitImages()}
}

// VersionOfLive is a live revision with the images that it runs.
func VersionOfLive(found *servingv1.Revision) Version {
	return Version{Revision: found.Name, Images: imagesOf(found.Spec.Containers), InitImages: imagesOf(found.Spec.InitContainers)}
}

// VersionOfTemplate is what the template of a live Service makes.
func VersionOfTemplate(live *servingv1.Service) *Version {
	t := live.Spec.Template
	return &Version{Revision: t.Name, Images: imagesOf(t.Spec.Containers), InitImages: imagesOf(t.Spec.InitContainers)}
}

// SameImages tells whether an overlay runs the images.
func (v Version) SameImages(state *knative.State) bool {
	return slices.Equal(v.Images, state.Images()) && slices.Equal(v.InitImages, state.InitImages())
}

// AllImages are those of the containers and of the init containers.
func (v Version) AllImages() []string { return slices.Concat(v.Images, v.InitImages) }

// KeptBy tells whether an overlay still runs the images that a promotion has brought over
// before, and no others that its own kustomization sets. Of the rest, which come from its base
// or a patch, anybody may change what they like, as of any configuration.
func (v Version) KeptBy(state *knative.State, before Version) bool {
	own, all := knative.OwnImages(state), v.AllImages()
	if v.SameImages(state) || len(own) == 0 {
		return v.SameImages(state)
	}
	runs, had := knative.AllImages(state), before.AllImages()
	for _, image := range own {
		if !slices.Contains(all, image) {
			return false
		}
	}
	for _, image := range all {
		if !slices.Contains(had, image) && !slices.Contains(runs, image) {
			return false
		}
	}
	return true
}

// mayBe tells whether an overlay runs the images, as far as their names tell: two with a
// digest each are the same by that, whatever registry they are from, others by their tags.
func (v Version) mayBe(state *knative.State) bool {
	return slices.EqualFunc(v.Images, state.Images(), SameImage) && slices.EqualFunc(v.InitImages, state.InitImages(), SameImage)
}

// BroughtTo tells whether an overlay runs the images of a version that another one did not
// have, as far as the overlay's own kustomization sets them: what was judged with that
// version, whatever the base has beside it. Where that is none, all images count.
func (v Version) BroughtTo(state *knative.State, instead Version) bool {
	had, own := instead.AllImages(), knative.OwnImages(state)
	judged := false
	for _, image := range v.AllImages() {
		brought := !slices.ContainsFunc(had, func(h string) bool { return SameImage(image, h) })
		set := slices.ContainsFunc(own, func(o string) bool { return sameName(image, o) })
		if !brought || !set {
			continue
		}
		if judged = true; !slices.ContainsFunc(own, func(o string) bool { return SameImage(image, o) }) {
			return false
		}
	}
	return judged || v.mayBe(state)
}

// sameName tells whether two images have the same name, whatever their tags and digests.
func sameName(a, b string) bool {
	name, _, _ := kustomize.SplitImage(a)
	other, _, _ := kustomize.SplitImage(b)
	return name == other
}

// SameImage tells whether two images are one, as far as their names tell: by their digests, whatever registry they are
// from, else by their tags.
func SameImage(a, b string) bool {
	name, tag, digest := kustomize.SplitImage(a)
	otherName, otherTag, otherDigest := kustomize.SplitImage(b)
	if digest != "" && otherDigest != "" {
		return digest == otherDigest
	}
	return name == otherName && tag == otherTag
}

// The bounds of a record.
const (
	formatNumber = 1
	limit        = 32 << 10 // bytes
	pastLimit    = 10       // entries of promotions that failed, and of others
	WordLimit    = 512      // bytes of a value that is for people
)

// IsZero tells whether there is no version.
func (v Version) IsZero() bool { return v.Revision == "" }

// Exists tells whether there is a record.
func (r Record) Exists() bool { return r.Promotion != "" }

// HasPassed tells whether the gates of the recorded step have passed.
func (r Record) HasPassed() bool { return !r.Passed.IsZero() }

// Is tells whether the record is of this step of this promotion.
func (r Record) Is(promotion, step string) bool { return r.Promotion == promotion && r.Step == step }

// RollsBack tells whether the recorded step rolled back.
func (r Record) RollsBack() bool { return RollsBack(r.Step) }

// TakesFrom tells whether a promotion of the images of other environments is under
// way, and an overlay still has those: what a person has set since never ran there. A
// candidate at 0 % is none yet, whatever its record says: its pull request may have been
// merged long after somebody looked at the environments, or be of somebody who never did.
func (r Record) TakesFrom(sources []string, now *knative.State) bool {
	source := r.SourceOf(now)
	elsewhere := slices.ContainsFunc(sources, func(overlay string) bool { return source.Of(overlay).IsZero() })
	return r.Percent > 0 && !elsewhere
}

// HasBegun tells whether more has come of the recorded promotion than a candidate at 0 %
// that has passed no gate.
func (r Record) HasBegun() bool { return r.Percent > 0 || r.HasPassed() }

// SourceOf is what an overlay's images were taken from, where a promotion of them is under
// way; the zero Source: none is, or it took them from nowhere.
func (r Record) SourceOf(now *knative.State) Source {
	if r.RollsBack() || r.Percent == 100 && r.HasPassed() || !r.To.SameImages(now) {
		return Source{}
	}
	return r.Source
}

// RolledBackTo is the revision that has the traffic after the recorded step, which
// rolled back: a restore gives it to what had it before.
func (r Record) RolledBackTo() string {
	if r.Step == Restore {
		return r.From.Revision
	}
	return r.To.Revision
}

// rolledBackFrom is the revision that had the traffic before the recorded step,
// which rolled back.
func rolledBackFrom(r Record) string {
	if r.Step == Restore {
		return r.To.Revision
	}
	return r.From.Revision
}

// WrittenAs is the record as if it had been written when another one of the same
// overlay was, and by the same run.
func (r Record) WrittenAs(has Record) Record {
	r.Started, r.Run, r.Actor, r.Approved = has.Started, has.Run, has.Actor, has.Approved
	return r
}

func imagesOf(containers []corev1.Container) []string {
	var images []string
	for _, c := range containers {
		images = append(images, c.Image)
	}
	return images
}

// TemplateStays tells whether the overlay still has the template that was to be
// rolled back, because only the traffic could be.
func (r Record) TemplateStays(state *knative.State) bool {
	return state.Revision() == rolledBackFrom(r)
}
