package slo

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// beyond says that the limit is broken.
func (a answer) beyond() string {
	candidate, old := a.sum(a.periods[a.overLimit.from:])
	return fmt.Sprintf("%s%s, the limit is %s%s: %s", a.measured(candidate), since(a.periods, a.overLimit.from), share(a.limit), a.others(old), chance(a.overLimit))
}

// worseThanOld says that the old revision fails less often.
func (a answer) worseThanOld() string {
	candidate, old := a.sum(a.periods[a.worse.from:])
	return fmt.Sprintf("%s%s%s: %s", a.measured(candidate), since(a.periods, a.worse.from), a.others(old), chance(a.worse))
}

// inWords says what was measured where nothing is broken, and whether all of it
// is within the limits.
func (o Objective) inWords(answers []answer, step []Period) (words string, kept bool) {
	kept = true
	var parts []string
	for _, a := range answers {
		candidate, old := a.sum(step)
		whole, _ := a.sum(a.periods)
		text := fmt.Sprintf("%s, the limit is %s", a.measured(candidate), share(a.limit))
		switch {
		case a.overLimit.reaches(o.bar()):
			kept = false
			candidate, old = a.sum(a.periods[a.overLimit.from:])
			text = fmt.Sprintf("%s%s, the limit is %s%s: the candidate breaks it, but is not shown to be worse than the old revision",
				a.measured(candidate), since(a.periods, a.overLimit.from), share(a.limit), a.others(old))
		case !a.within(candidate):
			kept = false
			text += a.others(old) + ": more than the limit, but so few that it may be chance"
		case !a.clear(whole):
			kept = false
			text += fmt.Sprintf(", in all steps %s of %s: a share of %s may look so by chance", grouped(whole.bad), grouped(whole.requests), share(twice(a.limit)))
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; "), kept
}

func (q question) measured(p portion) string {
	return fmt.Sprintf("%s of %s %s%s", grouped(p.bad), requestsOf(p.requests), q.bad, p.inBrackets())
}

// others says what the old revision did, where that was counted.
func (q question) others(old portion) string {
	if old.requests == 0 {
		return ""
	}
	whose := "the old revision's"
	if old.shared {
		whose = "all the Service's"
	}
	return fmt.Sprintf(", of %s %s of %s%s", whose, grouped(old.bad), grouped(old.requests), old.inBrackets())
}

func (p portion) inBrackets() string {
	if p.bad == 0 {
		return ""
	}
	return " (" + share(float64(p.bad)/float64(p.requests)) + ")"
}

// since names the step with which the counts begin, unless it is the first.
func since(periods []Period, from int) string {
	if from == 0 {
		return ""
	}
	return " since step " + periods[from].Step + " began"
}

// chance is the plain reading of an e-value. It is the chance that a promotion
// of a good candidate ever shows such evidence.
func chance(e evidence) string {
	if e.log > math.Log(1e6) {
		return "the chance that this is chance is less than 1 in a million"
	}
	return "the chance that this is chance is at most 1 in " + grouped(roundDown(e.value()))
}

// roundDown keeps two digits.
func roundDown(value float64) int {
	unit := math.Pow(10, max(0, math.Floor(math.Log10(value))-1))
	return int(math.Floor(value/unit) * unit)
}

// share writes a share as a percentage of two decimals, or of one digit where it is smaller.
func share(of float64) string {
	places := 2
	for p := of * 100; p > 0 && p < 0.1 && places < decimals+2; p *= 10 {
		places++
	}
	text := strconv.FormatFloat(of*100, 'f', places, 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text + " %"
}

func requestsOf(count int) string {
	if count == 1 {
		return "1 request"
	}
	return grouped(count) + " requests"
}

// grouped writes a number with commas between its thousands.
func grouped(count int) string {
	text := strconv.Itoa(count)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
