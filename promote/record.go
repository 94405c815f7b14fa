package promote

import (
	"slices"
	"strconv"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/acme/knative-promote/gitops/knative"
)

// A Record is what an overlay's own file says of the promotion that wrote it, in
// comment lines below the first one. It renders to nothing. It is all that a run
// which continues, a rollback and the history read: no commit message, date or
// ancestor decides anything. The zero Record is of an overlay that has none.
type Record struct {
	Format    int       `yaml:"record"`              // 1
	Promotion string    `yaml:"promotion"`           // id that the commits of a promotion or rollback share
	Overlay   string    `yaml:"overlay"`             // folder that it was written in
	Step      string    `yaml:"step"`                // candidate, 10, 100, restore, rollback
	Percent   int       `yaml:"percent"`             // share of To
	Passed    time.Time `yaml:"passed,omitempty"`    // when the last gate of the step had passed; zero: not yet
	Commit    string    `yaml:"commit,omitempty"`    // that was live when they had; empty: not yet
	To        Version   `yaml:"to,flow"`             // what is promoted, or rolled back to
	From      Version   `yaml:"from,omitempty,flow"` // what had the traffic before; zero on a first deployment
	Base      string    `yaml:"base,omitempty"`      // commit with the overlay from before; empty: nothing to roll back to
	Started   time.Time `yaml:"started"`
	Run       string    `yaml:"run,omitempty"`          // address of the workflow run
	Actor     string    `yaml:"actor,omitempty"`        // who started it
	Approved  string    `yaml:"approved,omitempty"`     // who has approved of it
	Code      string    `yaml:"code,omitempty"`         // repository@commit that it was started for
	Source    Source    `yaml:"source,omitempty,flow"`  // the environment that To's images were taken from
	Pull      int       `yaml:"pull-request,omitempty"` // that brought it, by its number; 0: none did
	Past      []Entry   `yaml:"past,omitempty"`         // what came before, newest first
}

// A Version is a revision and the images of its containers.
type Version struct {
	Revision   string   `yaml:"revision" json:"revision"`
	Images     []string `yaml:"images,omitempty,flow" json:"images,omitempty"`
	InitImages []string `yaml:"init-images,omitempty,flow" json:"init-images,omitempty"`
}

// versionOf is a revision of an overlay's template as it stands.
func versionOf(revision string, state *knative.State) Version {
	return Version{Revision: revision, Images: state.Images(), InitImages: state.InitImages()}
}

// sameImages tells whether an overlay runs the images.
func (v Version) sameImages(state *knative.State) bool {
	return slices.Equal(v.Images, state.Images()) && slices.Equal(v.InitImages, state.InitImages())
}

// An Entry is a promotion or rollback of the past.
type Entry struct {
	Ended     Status    `yaml:"ended" json:"ended"` // promoted, rolled-back, held, superseded; empty while it is under way
	Rollback  bool      `yaml:"rollback,omitempty" json:"rollback,omitempty"`
	Promotion string    `yaml:"promotion" json:"promotion"`
	To        Version   `yaml:"to" json:"to"`
	From      Version   `yaml:"from,omitempty" json:"from,omitzero"`
	Base      string    `yaml:"base,omitempty" json:"base,omitempty"`
	Started   time.Time `yaml:"started" json:"started"`
	Run       string    `yaml:"run,omitempty" json:"run,omitempty"`
	Actor     string    `yaml:"actor,omitempty" json:"actor,omitempty"`
	Approved  string    `yaml:"approved,omitempty" json:"approved,omitempty"`
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

// MarshalYAML writes an entry in one line.
func (e Entry) MarshalYAML() (any, error) {
	type plain Entry
	var node yaml.Node
	if err := node.Encode(plain(e)); err != nil {
		return nil, err
	}
	node.Style = yaml.FlowStyle
	return &node, nil
}

// exists tells whether there is a record.
func (r Record) exists() bool { return r.Promotion != "" }

// of is the record if it was written in the overlay. One that came with a copy of
// the folder tells nothing of this one.
func (r Record) of(overlay string) Record {
	if r.Overlay != overlay {
		return Record{}
	}
	return r
}

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

// entry is how the recorded promotion ended, as far as is known.
func (r Record) entry() Entry {
	e := Entry{
		Rollback: r.Step == stepRollback, Promotion: r.Promotion, To: r.To, From: r.From, Base: r.Base,
		Started: r.Started, Run: r.Run, Actor: r.Actor, Approved: r.Approved,
	}
	switch {
	case r.rollsBack():
		e.Ended = RolledBack
	case !r.passed():
		e.Ended = ""
	case r.Percent == 100:
		e.Ended = Promoted
	default:
		e.Ended = Held
	}
	return e
}

// entries are the recorded promotion and those before it, newest first.
func (r Record) entries() []Entry {
	if !r.exists() {
		return nil
	}
	return append([]Entry{r.entry()}, r.Past...)
}

// after is the past of what follows the recorded promotion, which is superseded
// by that if it has not ended.
func (r Record) after() []Entry {
	past := slices.Clone(r.entries())
	if len(past) > 0 && (past[0].Ended == "" || past[0].Ended == Held) {
		past[0].Ended = Superseded
	}
	return past[:min(len(past), pastLimit)]
}

// writtenAs is the record as if it had been written when another one was, and by the
// same run.
func (r Record) writtenAs(has Record) Record {
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
