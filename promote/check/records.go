package check

// recordRules are about the records that a change of the infra repository writes.
func recordRules() []Rule { return []Rule{rule("record-not-ours", findForeignRecord)} }

// Recorded is what is wrong with a record. The zero value: nothing.
type Recorded struct {
	File string // that has it
	Why  string // in words
}

func findForeignRecord(f Facts) []found {
	if f.Recorded.Why == "" {
		return nil
	}
	return []found{{at: place{File: f.Recorded.File}, values: values{"File": f.Recorded.File, "Why": f.Recorded.Why}}}
}
