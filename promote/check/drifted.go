package check

import (
	"cmp"
	"maps"
	"slices"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/promote/record"
)

// Drifted is the rule that finds that others have the traffic than Git says. It does
// not hold for a commit that nobody has seen live yet.
const Drifted = "drifted"

// findDrifted compares who has the traffic with what Git says, where the Service is
// not about to be synced: somebody has rolled it back in Argo CD, or changed it with
// kubectl. Traffic for the latest revision is nobody's in particular, so there only a
// rollback in Argo CD tells.
func findDrifted(f Facts) []found {
	has := Drift(f)
	if len(has) == 0 && f.RolledBack != "" {
		has = knative.Shares(f.Service.Status.Traffic) // Git names no revision
	}
	ahead := !f.sync().compared()
	if len(has) == 0 || ahead && !(argo.Automated(f.Setup.App) && f.kept()) {
		return nil
	}
	r, _ := record.Parse(f.Overlay.Record()) // what cannot be read speaks against nobody
	var commands, unfit []string
	for _, name := range holders(has) {
		if why := cmp.Or(f.NotReady[name], r.UnfitBy(f.Deployed, name)); why != "" {
			unfit = append(unfit, name+" "+why)
		} else {
			commands = append(commands, "knative-promote rollback --to "+name)
		}
	}
	return []found{{values: values{
		"Has": knative.Describe(sharing(f.Service.Status.Traffic)), "Says": knative.Describe(sharing(f.traffic())), "Synced": f.sync().last(),
		"RolledBack": f.RolledBack, "Ahead": ahead,
		"RollsBack": rollbackWaits(r, has), "Commands": commands, "Unfit": unfit,
	}}}
}

// rollbackWaits tells whether the traffic is where a rollback that nobody has seen live goes
// from: it only has to come to be live. Others have been given it since.
func rollbackWaits(r record.Record, has map[string]int) bool {
	for name := range has {
		if name != r.From.Revision && name != r.To.Revision {
			return false
		}
	}
	return r.RollsBack() && !r.HasPassed()
}

// Drift is who has which share of the traffic, where the cluster gives it to others
// than Git says and Argo CD will not change that by itself. Empty: it does not, or
// that is not known.
func Drift(f Facts) map[string]int {
	if f.Service == nil || f.Setup.App == nil {
		return nil
	}
	wanted, asked, has := knative.Shares(f.traffic()), knative.Shares(f.Service.Spec.Traffic), knative.Shares(f.Service.Status.Traffic)
	if _, latest := wanted[""]; latest || len(wanted) == 0 || maps.Equal(wanted, asked) || maps.Equal(wanted, has) {
		return nil
	}
	if f.sync().about(f.kept) {
		return nil
	}
	return has
}

// kept tells whether the commit that Argo CD has deployed last gives the traffic as Git says
// now, so that the cluster differs from that for another reason than that Git has gone on.
func (f Facts) kept() bool {
	return f.Given != nil && maps.Equal(f.Given(), knative.Shares(f.traffic()))
}

// sharing are the targets with a share.
func sharing(traffic []servingv1.TrafficTarget) []servingv1.TrafficTarget {
	return slices.DeleteFunc(slices.Clone(traffic), func(t servingv1.TrafficTarget) bool { return knative.Percent(t) == 0 })
}

// holders are revisions by their shares, the largest first.
func holders(shares map[string]int) []string {
	return slices.SortedFunc(maps.Keys(shares), func(a, b string) int {
		return cmp.Or(cmp.Compare(shares[b], shares[a]), cmp.Compare(a, b))
	})
}

// Fit are those of the revisions that have the traffic which Git may be made to give all
// of it to: neither the record nor that of the commit that Argo CD has deployed says of
// them that they were rolled back from or have not passed.
func Fit(r, deployed record.Record, shares map[string]int) []string {
	return slices.DeleteFunc(holders(shares), func(name string) bool { return r.UnfitBy(deployed, name) != "" })
}
