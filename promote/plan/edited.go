package plan

import (
	"fmt"
	"slices"
	"strings"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/internal/oneline"
	"github.com/acme/knative-promote/promote/record"
)

// Edited is what an edit that rolls back leads to.
type Edited struct {
	State    *knative.State
	Wanted   []servingv1.TrafficTarget // what it would have routed, with what people have added at 0 %
	Refused  error                     // why the template could not be rolled back, so that only the traffic is
	Lost     []string                  // images that somebody had set by hand, before or since, and that the overlay has no more
	Missing  []knative.Reference       // that pods of the destination need, and the overlay does not have
	Foreign  []string                  // fields that somebody had put into the tool's own files, which are written anew without them
	Brings   error                     // what it brings beside what is rolled back, as nothing else can be made
	Broken   error                     // why the overlay did not render with the tool's own files, which are written anew
	Follows  []string                  // fields that somebody's replacements copy from what the edit sets
	Replaced []servingv1.TrafficTarget // targets of somebody's later patch, which kept Knative from routing
	Blocked  bool                      // a target at 0 % that a transformer adds keeps Knative from routing
	Alone    string                    // why the Service alone was synced; empty: it was not
}

// Carrying is the revision that has all traffic after the edit; empty: none has.
func (e Edited) Carrying() string {
	traffic, _ := e.State.Traffic() // one that cannot be read has been refused
	return carrying(traffic)
}

// Warning is what a person should know of an edit; empty: nothing.
func (e Edited) Warning(to Destination) string {
	var warnings []string
	if text := e.incomplete(to); text != "" {
		warnings = append(warnings, text)
	}
	if ready := to.Readiness(); ready.Waits {
		warnings = append(warnings, fmt.Sprintf("revision %s %s: Knative routes the commit when the cluster takes the pod", to.Revision, ready.Why))
	}
	if len(e.Missing) > 0 {
		warnings = append(warnings, fmt.Sprintf("revision %s needs %s, which the overlay does not have: where that was pruned, no new pod of the revision starts, though it is Ready. Revert the commit that took it away, or promote the same image again, with the configuration of now",
			to.Revision, oneline.Brief(knative.Names(e.Missing))))
	}
	if e.Brings != nil {
		warnings = append(warnings, fmt.Sprintf("more comes than what ran: %v", e.Brings))
	}
	if e.Broken != nil {
		warnings = append(warnings, fmt.Sprintf("the tool's own files are written anew, and the record begins again, as the overlay did not render with them: %v", e.Broken))
	}
	if len(e.Foreign) > 0 {
		warnings = append(warnings, fmt.Sprintf("the tool's own files are written anew, without %s, which somebody had put into them: that belongs into a patch of its own",
			oneline.Brief(strings.Join(e.Foreign, " and "))))
	}
	if len(e.Follows) > 0 {
		warnings = append(warnings, fmt.Sprintf("a replacement or a transformer copies what is rolled back, so this changes too: %s; no promotion begins before it is taken out", oneline.Brief(strings.Join(e.Follows, " and "))))
	}
	if len(e.Replaced) > 0 {
		warnings = append(warnings, fmt.Sprintf("the tool's patch is listed behind all others too, as a later one added %s, which kept Knative from routing: it has no effect any more, take it out",
			oneline.Brief(knative.Describe(e.Replaced))))
	}
	if e.Blocked {
		warnings = append(warnings, "the overlay has a target at 0 % that keeps Knative from routing, and that something other than a patch adds: take it out of the overlay, and Knative routes the commit")
	}
	if e.Alone != "" {
		warnings = append(warnings, fmt.Sprintf("the Service alone was synced, as a sync of all does not come to it: %s. The rest is not as Git says: correct that, and sync the application", strings.TrimRight(e.Alone, ".")))
	}
	return strings.Join(warnings, "; ")
}

// incomplete is what is not as it was at the destination; empty: all is.
func (e Edited) incomplete(to Destination) string {
	traffic, err := e.State.Traffic()
	switch {
	case e.Refused == nil && err == nil && knative.Shares(traffic)[to.Revision] == 0 && to.instead() != "":
		return fmt.Sprintf("revision %s %s: %s, made of the template in Git, takes its place", to.Revision, to.Readiness().Why, e.State.Revision())
	case e.Refused == nil && err == nil && knative.Shares(traffic)[to.Revision] == 0:
		return fmt.Sprintf("revision %s is gone and cannot be made again, as the template of the overlay has changed since: %s, with that change, takes its place", to.Revision, e.State.Revision())
	case len(e.Lost) > 0:
		return fmt.Sprintf("the overlay has %s no more, which somebody had set by hand: it has to be promoted, if users are to have it", oneline.Brief(strings.Join(e.Lost, " and ")))
	case e.Refused == nil && e.State.Revision() != to.Revision:
		return fmt.Sprintf("%s has the traffic, and the overlay still has another template: what is promoted next takes that along, so change the overlay before where users are not to have it. Until then a cluster that is built anew from Git has no revision %s, and routes nothing", to.Revision, to.Revision)
	case e.Refused == nil:
		return ""
	}
	return fmt.Sprintf("the overlay's template could not be rolled back, only the traffic goes to %s: %v", to.Revision, e.Refused)
}

// lost are the images that somebody has set, which neither the record knows nor an overlay
// has that was rolled back: those of the tip, and those that a promotion had replaced.
func lost(now, after *knative.State, has record.Record, replaced []string) []string {
	set := slices.Clone(replaced)
	if has.Exists() { // else nobody has promoted anything
		set = append(set, knative.OwnImages(now)...)
	}
	slices.Sort(set)
	known := slices.Concat(has.From.AllImages(), has.To.AllImages(), knative.AllImages(after))
	return slices.DeleteFunc(slices.Compact(set), func(image string) bool { return slices.Contains(known, image) })
}
