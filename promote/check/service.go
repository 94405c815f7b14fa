package check

// serviceRules are about the Knative Service that the overlay renders.
func serviceRules() []Rule { return nil }
