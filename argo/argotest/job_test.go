package argotest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/argo/argotest"
)

// withCronJob adds a CronJob to the overlay, whose one container has the tag.
func (w *world) withCronJob(name, tag string) {
	w.t.Helper()
	w.infra.write("cronjob.yaml", fmt.Sprintf("apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: %s}\nspec: {schedule: '0 0 1 1 *', suspend: true, "+
		"jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: test, image: 'smoke-test:%s'}]}}}}}\n", name, tag))
	w.infra.write("kustomization.yaml", "namespace: production\nresources:\n  - ../../base\n  - cronjob.yaml\n")
	w.settled(w.infra.push("Test"))
}

func TestRunJob(t *testing.T) {
	t.Parallel()
	for tag, want := range map[string]argo.JobEnd{
		"v1":     {Succeeded: true},
		"broken": {Reason: "BackoffLimitExceeded: Job has reached the specified backoff limit"},
	} {
		t.Run(tag, func(t *testing.T) {
			t.Parallel()
			w := start(t, nil)
			w.withCronJob("smoke", tag)
			client, names := w.newClient(token), map[string]bool{}
			for range 2 { // the name of a minute is taken by then
				got, err := client.RunJob(w.auth(), argo.App{Name: app, Project: "default"}, "smoke")
				if err != nil {
					t.Fatal(err)
				}
				names[got.Name] = true
				if got.Name = ""; got != want {
					t.Errorf("the Job ended as %+v, want %+v", got, want)
				}
			}
			if len(names) != 2 {
				t.Errorf("the Jobs have the names %v, want two", names)
			}
		})
	}
}

func TestRunJobRefused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		cronJob, tag string
		adjust       func(*argotest.Config)
		want         string
	}{
		"absent": {cronJob: "smoke-test", tag: "v1", want: "application " + app + " has 0 live CronJobs with the name smoke-test: expected one"},
		"denied": {cronJob: "smoke", tag: "v1", adjust: func(c *argotest.Config) { c.Denied = []string{"applications/action/batch/CronJob/create-job"} },
			want: "the token's role needs: p, ROLE, applications, action/batch/CronJob/create-job, PROJECT/" + app + ", allow"},
		"endless": {cronJob: "smoke", tag: "endless", want: "waiting for the end of Job smoke-"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t, test.adjust)
			w.withCronJob("smoke", test.tag)
			over := errors.New("no answer in time")
			ctx, stop := context.WithTimeoutCause(w.auth(), 15*time.Second, over)
			defer stop()
			_, err := w.newClient(token).RunJob(ctx, argo.App{Name: app}, test.cronJob)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %s", err, test.want)
			}
			if name == "endless" && !errors.Is(err, over) {
				t.Errorf("error %v, want %v in it", err, over)
			}
		})
	}
}
