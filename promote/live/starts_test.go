package live

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"knative.dev/pkg/apis"
	duckv1 "knative.dev/pkg/apis/duck/v1"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/argo"
)

// scaling is an Argo CD whose revision is Active as the list says, one look after the other, and
// stays as the last one.
type scaling struct {
	Cluster
	left    []corev1.ConditionStatus
	refused string // for this reason one pod is for as long as there is none; empty: none is
}

func (s *scaling) Revision(context.Context, argo.App, string, string) (*servingv1.Revision, error) {
	next := s.left[0]
	if len(s.left) > 1 {
		s.left = s.left[1:]
	}
	switch next {
	case "":
		return nil, errors.New("no answer")
	case "nobody":
		return nil, argo.ErrAuth
	}
	r, pods := &servingv1.Revision{ObjectMeta: metav1.ObjectMeta{Name: "web-1"}}, int32(0)
	if next == corev1.ConditionTrue {
		pods = 1
	}
	r.Status.Conditions = duckv1.Conditions{{Type: servingv1.RevisionConditionActive, Status: next}}
	r.Status.ActualReplicas = &pods
	if s.refused != "" && pods == 0 {
		r.Status.MarkResourcesAvailableFalse(s.refused, "no")
	}
	return r, nil
}

// TestStarts tells a revision of which no pod starts from one that nobody asks, and from one that
// the run has no time for.
func TestStarts(t *testing.T) {
	t.Parallel()
	const yes, no, starting, away = corev1.ConditionTrue, corev1.ConditionFalse, corev1.ConditionUnknown, corev1.ConditionStatus("")
	type active = []corev1.ConditionStatus
	const asked = "users wait for a pod of revision web-1, which had none: looking for up to 3m0s whether one starts"
	const late = "no pod of revision web-1, which had none, has become ready in 3m0s, although it is asked for: its users get errors or wait"
	for name, test := range map[string]struct {
		active  active
		refused string
		left    time.Duration // that the run has; 0: as long as it wants
		waited  time.Duration
		said    string
		err     string
	}{
		"has a pod":         {active{yes}, "", 0, 0, "", ""},
		"nobody can tell":   {active{away}, "", 0, 15 * time.Second, "", ""},
		"is seen later":     {active{away, away, yes}, "", 0, 2 * time.Second, "", ""},
		"away for a while":  {active{starting, away, away, starting, yes}, "", 0, 4 * time.Second, asked, ""},
		"is seen no more":   {active{starting, away}, "", 0, 3 * time.Minute, asked, "nobody can see whether a pod starts of revision web-1, which had none: no answer"},
		"nobody looks":      {active{"nobody"}, "", 0, 0, "", ""},
		"nobody asks":       {active{no}, "", 0, 15 * time.Second, "no pod of revision web-1 runs, as nobody has asked for one in 15s: the first request starts one", ""},
		"starts":            {active{no, no, starting, yes}, "", 0, 3 * time.Second, asked, ""},
		"does not start":    {active{no, starting}, "", 0, 3 * time.Minute, asked, late},
		"Knative gives up":  {active{starting, starting, no}, "", 0, 2 * time.Second, asked, "no pod of revision web-1, which had none, has become ready in 2s, although it is asked for: its users get errors or wait"},
		"the run ends soon": {active{starting}, "", 8 * time.Second, 6 * time.Second, "no pod of revision web-1 has become ready in 6s, and the run has no time left to see whether one does", ""},
		"waits for a node":  {active{starting, starting, starting, yes}, "Unschedulable", 0, 3 * time.Second, asked, ""},
		"is not admitted":   {active{starting}, "FailedCreate", 0, 3 * time.Minute, asked, late + " (FailedCreate: no)"},
		"has no image":      {active{starting}, "ImagePullBackOff", 0, time.Second, asked, strings.Replace(late, "3m0s", "1s", 1)},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, began, said := t.Context(), time.Now(), ""
			if test.left > 0 {
				limited, stop := context.WithTimeout(ctx, test.left)
				defer stop()
				ctx = limited
			}
			say := func(format string, args ...any) { said = fmt.Sprintf(format, args...) }
			failed := ""
			err := Service{Cluster: &scaling{left: test.active, refused: test.refused}}.Starts(ctx, "shop", "web-1", time.Hour, say)
			if err != nil {
				failed = err.Error()
			}
			if waited := time.Since(began); waited != test.waited || said != test.said || failed != test.err {
				t.Errorf("%s: after %s said %q, %v; want %s, %q, %s", name, waited, said, err, test.waited, test.said, test.err)
			}
		})
	}
}

// TestUnstarted tells what was Ready without a pod, and what users wait for, from what was scaled to
// zero after it had one.
func TestUnstarted(t *testing.T) {
	t.Parallel()
	ready := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		active corev1.ConditionStatus
		after  time.Duration // it became Ready
		pods   int32
		want   bool
	}{
		"never had a pod":         {corev1.ConditionFalse, 0, 0, true},
		"was without one earlier": {corev1.ConditionFalse, -time.Second, 0, true},
		"was scaled to zero":      {corev1.ConditionFalse, time.Minute, 0, false},
		"users wait":              {corev1.ConditionUnknown, time.Minute, 0, true},
		"has a pod":               {corev1.ConditionTrue, 0, 1, false},
		"its last pod goes":       {corev1.ConditionFalse, 0, 1, false},
	} {
		r := &servingv1.Revision{}
		r.Status.ActualReplicas = &test.pods
		at := func(t time.Time) apis.VolatileTime { return apis.VolatileTime{Inner: metav1.NewTime(t)} }
		r.Status.Conditions = duckv1.Conditions{
			{Type: servingv1.RevisionConditionReady, Status: corev1.ConditionTrue, LastTransitionTime: at(ready)},
			{Type: servingv1.RevisionConditionActive, Status: test.active, LastTransitionTime: at(ready.Add(test.after))},
		}
		if got := Unstarted(r); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	if Unstarted(nil) || Unstarted(&servingv1.Revision{}) {
		t.Error("what was not seen has not started")
	}
}
