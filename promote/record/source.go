package record

// A Source is the environment whose images a promotion takes: the overlay that
// `from` names, as it was then.
type Source struct {
	Overlay  string   `yaml:"overlay" json:"overlay"`
	Branch   string   `yaml:"branch,omitempty" json:"branch,omitempty"` // that has it; empty: the promoted overlay's own
	Commit   string   `yaml:"commit" json:"commit"`                     // the branch's tip that showed it
	Revision string   `yaml:"revision" json:"revision"`                 // that ran there
	With     []Source `yaml:"with,omitempty" json:"with,omitempty"`     // the others that `from` names, which ran the same images
}

// IsZero tells whether there is none.
func (s Source) IsZero() bool { return s.Overlay == "" }

// All are the source and those with it.
func (s Source) All() []Source { return append([]Source{s}, s.With...) }

// Of is the source that has the overlay; the zero Source: none has.
func (s Source) Of(overlay string) Source {
	for _, one := range s.All() {
		if one.Overlay == overlay {
			return one
		}
	}
	return Source{}
}
