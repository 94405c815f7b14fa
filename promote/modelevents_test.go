package promote

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing/fstest"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/knative"
)

// eventsMost is how many events a history has.
const eventsMost = 4

// A clusterEvent is what happens to the Service past the program, with the cluster or by
// people. It tells whether it could happen.
type clusterEvent struct {
	kind string
	do   func(context.Context, *model) bool
}

// allEvents are those that there are.
func allEvents() (all []clusterEvent) {
	for _, role := range []string{"new", "old", "kept"} {
		all = append(all,
			clusterEvent{"the " + role + " revision begins to crash", func(_ context.Context, m *model) bool {
				return m.cluster.crash(m.cluster.inRole(role))
			}},
			clusterEvent{"the " + role + " revision is collected", func(_ context.Context, m *model) bool {
				return m.cluster.collect(m.cluster.inRole(role))
			}})
	}
	return append(all,
		clusterEvent{"the Service is made anew", func(ctx context.Context, m *model) bool {
			m.cluster.remove()
			m.cluster.synced = ""
			m.sync(ctx)
			return true
		}},
		clusterEvent{"the cluster is made anew", func(ctx context.Context, m *model) bool {
			m.cluster.remove()
			m.cluster.synced, m.cluster.manual = "", false
			return true // Argo CD is there before the Service is
		}},
		clusterEvent{"somebody tags a revision", func(_ context.Context, m *model) bool { return m.tag() }},
		clusterEvent{"somebody rolls back in Argo CD", func(ctx context.Context, m *model) bool { return m.rollBackInArgoCD(ctx) }},
		clusterEvent{"somebody moves the traffic with kubectl", func(ctx context.Context, m *model) bool { return m.moveTraffic(ctx) }},
		clusterEvent{"somebody takes the Service out", func(_ context.Context, m *model) bool { return m.takeServiceOut() }},
	)
}

// befall lets an event happen, or not.
func (m *model) befall(ctx context.Context) {
	total := 0
	for _, n := range m.events {
		total += n
	}
	if !m.shaken || m.peace || total >= eventsMost || m.pick.IntN(12) > 0 {
		return
	}
	m.sync(ctx)
	all := allEvents()
	e := all[m.pick.IntN(len(all))]
	if !e.do(ctx, m) {
		return
	}
	m.cluster.reconcile()
	m.events[e.kind]++
	m.seen = false
	m.tell("- %s: %s", e.kind, m.cluster.text())
}

// inRole is a revision that is there: the new one is the template's, the old one has
// traffic besides, the kept one has none.
func (c *clusterModel) inRole(role string) string {
	for _, name := range slices.Sorted(maps.Keys(c.revisions)) {
		share := knative.Shares(c.routed)[name]
		is := "kept"
		switch {
		case name == c.created:
			is = "new"
		case share > 0:
			is = "old"
		}
		if is == role {
			return name
		}
	}
	return ""
}

func (c *clusterModel) crash(name string) bool {
	have := c.revisions[name]
	if have == nil || have.why != "" {
		return false
	}
	have.why = "ExitCode1"
	return true
}

// collect deletes a revision. That of the present template Knative makes again.
func (c *clusterModel) collect(name string) bool {
	_, there := c.revisions[name]
	delete(c.revisions, name)
	return there
}

// tag has somebody tag a revision.
func (m *model) tag() bool {
	names := slices.Sorted(maps.Keys(m.cluster.revisions))
	if len(names) == 0 {
		return false
	}
	tree, done := tagged(m.trees[m.tip()], names[m.pick.IntN(len(names))], fmt.Sprintf("t%d", len(m.commits)))
	if done {
		m.touch = true
		m.append(gitops.Commit{Subject: "Tag a revision"}, tree)
	}
	return done
}

// tagged is a tree with a tag for a revision in the Service's traffic: in the program's
// own file, or beside the template where there is no traffic yet.
func tagged(tree fstest.MapFS, revision, tag string) (fstest.MapFS, bool) {
	target := fmt.Sprintf("- revisionName: %s\n  percent: 0\n  latestRevision: false\n  tag: %s\n", revision, tag)
	file, indent := "web/knative-promote-web.yaml", "    "
	if tree[file] == nil {
		file, indent = "web/service.yaml", "  "
		target = "traffic:\n- latestRevision: true\n  percent: 100\n" + target
		if strings.Contains(string(tree[file].Data), "traffic:") {
			return nil, false
		}
	}
	var text strings.Builder
	text.Write(tree[file].Data)
	for line := range strings.Lines(target) {
		text.WriteString(indent + line)
	}
	tree = maps.Clone(tree)
	tree[file] = &fstest.MapFile{Data: []byte(text.String())}
	return tree, true
}

// rollBackInArgoCD switches auto-sync off, as Argo CD asks for, and syncs an earlier
// commit that it has deployed and that has the Service.
func (m *model) rollBackInArgoCD(ctx context.Context) bool {
	to := m.tip() - 1 - m.pick.IntN(4)
	if to < 0 || !slices.Contains(m.cluster.deployed, m.commits[to].Hash) || m.cluster.service == nil || m.trees[to]["web/service.yaml"] == nil {
		return false
	}
	m.movedBy(ctx, func() { m.cluster.apply(ctx, m.commits[to].Hash, m.trees[to]) })
	return true
}

// moveTraffic switches auto-sync off and gives all traffic to a revision that is there.
func (m *model) moveTraffic(ctx context.Context) bool {
	names := slices.Sorted(maps.Keys(m.cluster.revisions))
	if m.cluster.service == nil || len(names) == 0 {
		return false
	}
	name := names[m.pick.IntN(len(names))]
	m.movedBy(ctx, func() {
		service := m.cluster.service.DeepCopy()
		service.Spec.Traffic = []servingv1.TrafficTarget{{RevisionName: name, LatestRevision: new(false), Percent: new(int64(100))}}
		m.cluster.synced = ""
		m.cluster.set(service)
	})
	if state, err := knative.Read(ctx, m.trees[m.tip()], "web", "web"); err == nil && state.Revision() == name {
		m.undone = "" // what Git leads to has users, who stay there
	}
	return true
}

// movedBy has somebody move the Service past Git, which nothing is to undo where users
// have others after it, and others than Git says.
func (m *model) movedBy(ctx context.Context, move func()) {
	m.cluster.manual = true
	before := knative.Shares(m.cluster.routed)
	move()
	m.cluster.reconcile()
	if m.undone = ""; !maps.Equal(before, knative.Shares(m.cluster.routed)) {
		m.undone = m.commits[m.tip()].Hash
	}
	m.sync(ctx)
	if state, err := knative.Read(ctx, m.trees[m.tip()], "web", "web"); err == nil {
		if says, err := state.Traffic(); err == nil && maps.Equal(knative.Shares(says), knative.Shares(m.cluster.routed)) {
			m.undone = ""
		}
	}
}

// takeServiceOut has somebody take the Service out of the overlay.
func (m *model) takeServiceOut() bool {
	if isOut(m.trees[m.tip()]) {
		return false
	}
	m.touch = true
	m.append(gitops.Commit{Subject: "Take the Service out"}, withoutService(m.trees[m.tip()]))
	return true
}

// withoutService is a tree whose overlay renders nothing.
func withoutService(tree fstest.MapFS) fstest.MapFS {
	tree = maps.Clone(tree)
	tree["web/kustomization.yaml"] = &fstest.MapFile{Data: []byte("resources: []\n")}
	return tree
}

// isOut tells whether somebody has taken the Service out of a tree.
func isOut(tree fstest.MapFS) bool {
	return strings.HasPrefix(string(tree["web/kustomization.yaml"].Data), "resources: []")
}
