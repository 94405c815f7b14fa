package strictyaml

import "slices"

// An Entry is one thing that a file says: in words, and exactly. What people may write stands in the
// words as it is, so two entries that are not the same may have the same words.
type Entry struct{ Words, Exact string }

// Compare are the words of what one file says and another does not.
func Compare(before, after []Entry) (removed, added []string) {
	left := slices.Clone(before)
	for _, one := range after {
		if i := slices.IndexFunc(left, func(other Entry) bool { return other.Exact == one.Exact }); i >= 0 {
			left = slices.Delete(left, i, i+1)
			continue
		}
		added = append(added, one.Words)
	}
	for _, one := range left {
		removed = append(removed, one.Words)
	}
	return removed, added
}
