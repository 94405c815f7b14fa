package check

// overlayRules are about the overlay's files.
func overlayRules() []Rule { return nil }
