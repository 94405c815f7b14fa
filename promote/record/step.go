package record

import "strconv"

// The names of the steps that roll back.
const (
	Restore  = "restore"
	Rollback = "rollback"
)

// RollsBack tells whether a step of that name rolls back.
func RollsBack(step string) bool { return step == Restore || step == Rollback }

// StepOf is a step's name in the record, by the share of the new revision.
func StepOf(percent int) string {
	if percent == 0 {
		return "candidate"
	}
	return strconv.Itoa(percent)
}

// ShareOf is the share of the traffic that To has after a step.
func ShareOf(step string) int {
	switch step {
	case "candidate", Restore:
		return 0
	case Rollback:
		return 100
	}
	percent, _ := strconv.Atoi(step)
	return percent
}
