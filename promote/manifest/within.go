package manifest

// Within tells whether each line that changes is one that changes in the others too.
func (d Difference) Within(others []Difference) bool {
	known := map[Line]bool{}
	for _, other := range others {
		for _, line := range other.changed() {
			known[line] = true
		}
	}
	for _, line := range d.changed() {
		if !known[line] {
			return false
		}
	}
	return true
}

// changed are the lines that are added and removed.
func (d Difference) changed() (lines []Line) {
	for _, o := range d {
		for _, h := range o.Hunks {
			for _, line := range h.Lines {
				if line.Sign != Both {
					lines = append(lines, line)
				}
			}
		}
	}
	return lines
}
