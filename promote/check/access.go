package check

// accessRules are about tokens and what they may do.
func accessRules() []Rule { return nil }
