package windows

// Named is an environment that an entry of the file names.
type Named struct {
	Environment string
	Line        int // of the entry, from 1
}

// Environments are those that the entries name, each entry's in its order.
func (s Schedule) Environments() (all []Named) {
	add := func(scope scope, line int) {
		for _, name := range scope.environments {
			all = append(all, Named{name, line})
		}
	}
	for _, w := range s.allow {
		add(w.scope, w.line)
	}
	for _, w := range s.exclude {
		add(w.scope, w.line)
	}
	if s.stop != nil {
		add(s.stop.scope, s.stop.line)
	}
	return all
}
