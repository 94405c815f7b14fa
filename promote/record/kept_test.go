package record

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// A pastWorld is promotions and rollbacks at random, with all that there ever was.
type pastWorld struct {
	*rand.Rand
	all  []Entry // newest first
	at   string  // the revision with the traffic
	next int
}

// kept are those that a record has.
func (w *pastWorld) kept() ([]Entry, bool) {
	if len(w.all) == 0 {
		return nil, false
	}
	past := keepIn(Record{Past: w.all[1:]}, pastLimit)
	return append([]Entry{w.all[0]}, past.Past...), past.Cut
}

func (w *pastWorld) add(e Entry, to string) {
	e.From, e.To = Version{Revision: w.at}, Version{Revision: to}
	w.all = append([]Entry{e}, w.all...)
	if e.Rollback || e.Ended == Promoted {
		w.at = to
	}
}

// promote promotes a new revision, or an old one, which may fail.
func (w *pastWorld) promote() {
	to := fmt.Sprintf("old%d", w.IntN(5))
	if w.IntN(2) == 0 {
		w.next++
		to = fmt.Sprintf("new%d", w.next)
	}
	if to != w.at {
		w.add(Entry{Ended: []End{Promoted, Promoted, Promoted, Promoted, RolledBack}[w.IntN(5)]}, to)
	}
}

func (w *pastWorld) rollBack(to string) {
	if to != w.at && to != "" {
		w.add(Entry{Ended: RolledBack, Rollback: true}, to)
	}
}

func (w *pastWorld) String() string {
	var b strings.Builder
	for _, e := range w.all {
		fmt.Fprintf(&b, " %s>%s", e.From.Revision, e.To.Revision)
		if e.Ended == RolledBack {
			b.WriteString("!")
		}
	}
	return b.String()
}

// lastTo is the promotion that led to a revision.
func lastTo(entries []Entry, cut bool, revision string) (last Entry, sure bool) {
	left, sure := leadingTo(entries, cut, revision)
	if len(left) > 0 {
		last = left[len(left)-1]
	}
	return last, sure
}

// TestLastToOfWhatIsKept has a rollback after more promotions and rollbacks than a
// record keeps go to where it would go if it kept all, or say that it does not know.
func TestLastToOfWhatIsKept(t *testing.T) {
	t.Parallel()
	rollbacks, refused := 0, 0
	for seed := range uint64(20_000) {
		w := &pastWorld{Rand: rand.New(rand.NewPCG(seed, 1)), at: "old0"}
		for range 8 + w.IntN(16) {
			entries, cut := w.kept()
			switch k := w.IntN(10); {
			case k < 4:
				w.promote()
			case k < 9:
				want, _ := lastTo(w.all, false, w.at)
				got, sure := lastTo(entries, cut, w.at)
				rollbacks++
				switch {
				case !sure:
					refused++
				case got.From.Revision != want.From.Revision:
					t.Fatalf("seed %d: a rollback from %s goes to %q, and with all that there was to %q, newest first:%s", seed, w.at, got.From.Revision, want.From.Revision, w)
				}
				w.rollBack(got.From.Revision)
			default:
				if names := Known(entries); len(names) > 0 {
					w.rollBack(names[w.IntN(len(names))])
				}
			}
		}
	}
	if refused == 0 || refused > rollbacks/20 {
		t.Errorf("%d of %d rollbacks are refused: want some, and few", refused, rollbacks)
	}
	t.Logf("%d of %d rollbacks are refused", refused, rollbacks)
}
