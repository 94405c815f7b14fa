package compare

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// named is how many fields are named; of the others only the number is told.
const named = 5

// differs says what of a comparison is beyond chance.
func (c *Comparison) differs(beyond []test, shared float64) string {
	var parts, fields []string
	slices.SortStableFunc(beyond, func(a, b test) int { return cmp.Compare(a.chance, b.chance) })
	least := beyond[0].chance * shared
	slices.SortStableFunc(beyond, func(a, b test) int { return cmp.Compare(a.what, b.what) })
	for _, t := range beyond {
		switch t.what {
		case ofStatus:
			parts = append(parts, "the status differs in "+t.tally.times()+", "+t.tally.kind+" instead of "+t.tally.before)
		case ofLatency:
			parts = append(parts, fmt.Sprintf("the candidate takes more than %g times as long in %d", c.question.Latency, t.tally.own))
		case ofField:
			fields = append(fields, t.name+" in "+t.tally.times()+t.tally.change())
		}
	}
	if len(fields) > 0 && beyond[0].what != ofStatus { // otherwise they follow from the status
		parts = append(parts, plural(len(fields), "field differs", "fields differ")+": "+list(fields))
	}
	return fmt.Sprintf("%s: of %d rounds %s: %s", c.path(), c.rounds, strings.Join(parts, "; "), chanceWords(least))
}

// path is the question's path without its query, which may hold a secret.
func (c *Comparison) path() string {
	path, _, has := strings.Cut(c.question.Path, "?")
	if has {
		path += "?…"
	}
	return path
}

// times says in how many rounds the candidate alone differs, and where the old
// revision does too, in how many that does.
func (t tally) times() string {
	if t.noise == 0 {
		return fmt.Sprint(t.own)
	}
	return fmt.Sprintf("%d (in %d of the others between answers of the old revision)", t.own, t.noise)
}

// change says what kind of value stands where another one stood.
func (t tally) change() string {
	switch {
	case t.kind == t.before:
		return ""
	case t.kind == "":
		return " (missing)"
	case t.before == "":
		return " (new)"
	}
	return " (" + t.kind + " instead of " + t.before + ")"
}

// chanceWords is the plain reading of a chance.
func chanceWords(p float64) string {
	of := "1,000"
	switch {
	case p < 1e-6:
		of = "a million"
	case p < 1e-5:
		of = "100,000"
	case p < 1e-4:
		of = "10,000"
	}
	return "the chance that this is chance is less than 1 in " + of
}

// unclear says what was not seen enough of; empty: all of it was. A comparison
// without rounds enough could not have failed.
func unclear(comparisons []*Comparison) string {
	asked := 0
	for _, c := range comparisons {
		asked += c.question.things()
	}
	var open []string
	for _, c := range comparisons {
		incomparable, repaired := c.incomparable()
		switch {
		case incomparable && !repaired:
			open = append(open, fmt.Sprintf("%s: the old revision failed all %d requests and the candidate %d of %d, so there is nothing to compare with", c.path(), 2*c.rounds, c.failed, c.rounds))
		case c.good == 0 && c.rounds > 0 && !repaired:
			open = append(open, fmt.Sprintf("%s: no answer of the old revision is a 2xx, so nobody can tell whether a revision or what is in front of it has answered (%s): compare what it answers with one",
				c.path(), list(slices.Sorted(maps.Keys(c.statuses)))))
		case atLeast(c.rounds, c.rounds)*float64(asked) >= falseAlarm:
			open = append(open, fmt.Sprintf("%s: %d of %d rounds are whole, which is too few to say", c.path(), c.rounds, c.question.Count))
		case c.question.JSON && c.json == 0 && !repaired:
			open = append(open, c.path()+": the old revision does not answer with JSON of at most a mebibyte, so there are no fields to compare")
		}
	}
	return joined(open)
}

// things is how many things of an answer are compared: whether it is a failure always is.
func (q Question) things() int {
	count := 1
	for _, asked := range []bool{q.Latency > 0, q.JSON} {
		if asked {
			count++
		}
	}
	return count
}

// inWords says what was compared where nothing differs beyond noise.
func inWords(comparisons []*Comparison) string {
	var all []string
	for _, c := range comparisons {
		if incomparable, _ := c.incomparable(); incomparable {
			all = append(all, fmt.Sprintf("%s: the old revision failed all %d requests, and the candidate none of %d, so there is nothing to compare with", c.path(), 2*c.rounds, c.rounds))
			continue
		}
		text := fmt.Sprintf("%s: %d requests (%s), nothing differs", c.path(), 3*c.rounds, list(slices.Sorted(maps.Keys(c.statuses))))
		var noise, chance []string
		for _, t := range c.tests() {
			name := map[thing]string{ofStatus: "the status", ofField: t.name}[t.what]
			switch {
			case t.what == ofLatency:
			case t.tally.noise > 0:
				noise = append(noise, name)
			case t.tally.own > 1 || t.what == ofStatus && t.tally.own > 0: // names that come once are many
				chance = append(chance, fmt.Sprintf("%s in %d", name, t.tally.own))
			}
		}
		if len(noise) > 0 {
			text += " beyond what two answers of the old revision differ in, which is " + list(noise)
		}
		if len(chance) > 0 {
			text += "; of the candidate alone, in so few rounds that it may be chance: " + list(chance)
		}
		all = append(all, text)
	}
	return joined(all)
}

// list names the first ones, and the number of the others.
func list(names []string) string {
	if more := len(names) - named; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:named], ", "), more)
	}
	return strings.Join(names, ", ")
}

func plural(count int, one, many string) string {
	if count == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", count, many)
}

func joined(texts []string) string { return strings.Join(texts, "; ") }
