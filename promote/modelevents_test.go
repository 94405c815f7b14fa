package promote

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing/fstest"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/knative"
)

// eventsMost is how many events a history has.
const eventsMost = 4

// An event is what happens to the Service past the program, with the cluster or by
// people. It tells whether it could happen.
type event struct {
	kind string
	do   func(context.Context, *model) bool
}

// allEvents are those that there are.
func allEvents() (all []event) {
	for _, role := range []string{"new", "old", "kept"} {
		all = append(all,
			event{"the " + role + " revision begins to crash", func(_ context.Context, m *model) bool {
				return m.cluster.crash(m.cluster.inRole(role))
			}},
			event{"the " + role + " revision is collected", func(_ context.Context, m *model) bool {
				return m.cluster.collect(m.cluster.inRole(role))
			}})
	}
	return append(all,
		event{"the Service is made anew", func(ctx context.Context, m *model) bool {
			m.cluster.remove()
			m.cluster.synced = ""
			m.sync(ctx)
			return true
		}},
		event{"the cluster is made anew", func(ctx context.Context, m *model) bool {
			m.cluster.remove()
			m.cluster.synced, m.cluster.manual = "", false
			return true // Argo CD is there before the Service is
		}},
		event{"somebody tags a revision", func(_ context.Context, m *model) bool { return m.tag() }},
		event{"somebody rolls back in Argo CD", func(ctx context.Context, m *model) bool { return m.rollBackInArgoCD(ctx) }},
		event{"somebody takes the Service out", func(_ context.Context, m *model) bool { return m.takeServiceOut() }},
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

// tag has somebody write a tag for any revision that there is into the Service's
// traffic: into the program's own file, or beside the template.
func (m *model) tag() bool {
	names := slices.Sorted(maps.Keys(m.cluster.revisions))
	if len(names) == 0 {
		return false
	}
	tree := maps.Clone(m.trees[m.tip()])
	target := fmt.Sprintf("- revisionName: %s\n  percent: 0\n  latestRevision: false\n  tag: t%d\n", names[m.pick.IntN(len(names))], len(m.commits))
	const own = "web/knative-promote-web.yaml"
	file, indent := own, "    "
	if tree[own] == nil {
		file, indent = "web/service.yaml", "  "
		target = "traffic:\n- latestRevision: true\n  percent: 100\n" + target
	}
	if tree[file] == nil || file == "web/service.yaml" && strings.Contains(string(tree[file].Data), "traffic:") {
		return false
	}
	var text strings.Builder
	text.Write(tree[file].Data)
	for line := range strings.Lines(target) {
		text.WriteString(indent + line)
	}
	tree[file] = &fstest.MapFile{Data: []byte(text.String())}
	m.touch = true
	m.append(gitops.Commit{Subject: "Tag a revision"}, tree)
	return true
}

// rollBackInArgoCD switches auto-sync off, as Argo CD asks for, and syncs an earlier
// commit that has the Service.
func (m *model) rollBackInArgoCD(ctx context.Context) bool {
	to := m.tip() - 1 - m.pick.IntN(4)
	if to < 0 || m.cluster.service == nil || m.trees[to]["web/service.yaml"] == nil {
		return false
	}
	m.cluster.manual = true
	m.cluster.apply(ctx, m.commits[to].Hash, m.trees[to])
	m.sync(ctx)
	return true
}

// takeServiceOut has somebody take the Service out of the overlay.
func (m *model) takeServiceOut() bool {
	tree := maps.Clone(m.trees[m.tip()])
	if m.isOut(m.tip()) {
		return false
	}
	m.touch = true
	tree["web/kustomization.yaml"] = &fstest.MapFile{Data: []byte("resources: []\n")}
	m.append(gitops.Commit{Subject: "Take the Service out"}, tree)
	return true
}

// isOut tells whether a commit has no Service.
func (m *model) isOut(n int) bool {
	return strings.HasPrefix(string(m.trees[n]["web/kustomization.yaml"].Data), "resources: []")
}
