package check

// mostMerged is how many entries a list may have that Argo CD merges by a key: it looks for each one through all others, with each refresh of
// the Application. Two thousand take some seconds.
const mostMerged = 2_000

// findLongLists finds lists that keep Argo CD busy.
func findLongLists(f Facts) []found {
	var all []found
	for _, o := range comparedByMerging(f) {
		longest, in := mostMerged, ""
		eachMerged(o, func(field string, entries []any, _ string) {
			if len(entries) > longest {
				longest, in = len(entries), field
			}
		})
		if in != "" {
			all = append(all, found{at: f.inObject(o), values: values{"Object": title(o), "Field": in, "Entries": longest, "Most": mostMerged}})
		}
	}
	return all
}
