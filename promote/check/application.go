package check

// applicationRules are about the Application: its source, its sync policy and options, its project.
func applicationRules() []Rule { return nil }
