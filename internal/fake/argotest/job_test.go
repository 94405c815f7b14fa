package argotest_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc/codes"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/internal/fake/argotest"
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
		cronJob string
		adjust  func(*argotest.Config)
		want    string
	}{
		"absent": {cronJob: "smoke-test", want: "application " + app + " has 0 live CronJobs with the name smoke-test: expected one"},
		"denied": {cronJob: "smoke", adjust: mayNotStartJobs, want: "the token's role needs: p, ROLE, applications, action/batch/CronJob/create-job, PROJECT/" + app + ", allow"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t, test.adjust)
			w.withCronJob("smoke", "v1")
			_, err := w.newClient(token).RunJob(w.auth(), argo.App{Name: app}, test.cronJob)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %s", err, test.want)
			}
		})
	}
}

func mayNotStartJobs(c *argotest.Config) {
	c.Denied = []string{"applications/action/batch/CronJob/create-job"}
}

// TestRunJobWithoutEnd has Jobs of whose end nobody hears: Argo CD is asked for it
// twice, and then there is no more time.
func TestRunJobWithoutEnd(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		code codes.Code // of Argo CD's answers
		says string
		want string // after the Job's name
	}{
		"runs on": {want: "it has not ended: no answer in time"},
		"unreadable": {codes.PermissionDenied, "permission denied", "its end could not be read: reading Job smoke-NAME of application " + app +
			": not allowed by Argo CD: no such application, or the token may not do this: permission denied: no answer in time"},
		"gone": {codes.InvalidArgument, "Job batch smoke not found as part of application " + app, "it was deleted before its end was seen"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, end := context.WithCancelCause(t.Context())
			var asked atomic.Int32
			w := start(t, func(c *argotest.Config) {
				c.Middleware = func(next http.Handler) http.Handler {
					return http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
						job := strings.HasSuffix(r.URL.Path, "/GetResource")
						if job && asked.Add(1) == 2 {
							end(errors.New("no answer in time"))
						}
						if !job || test.code == codes.OK {
							next.ServeHTTP(out, r)
							return
						}
						answerWith(out, r, test.code, test.says)
					})
				}
			})
			w.withCronJob("smoke", "endless")
			got, err := w.newClient(token).RunJob(ctx, argo.App{Name: app}, "smoke")
			want := strings.ReplaceAll(test.want, "smoke-NAME", got.Name)
			if err != nil || got.Succeeded || !got.Unknown || got.Reason != want || !strings.HasPrefix(got.Name, "smoke-") {
				t.Errorf("got %+v, error %v, want %s", got, err, want)
			}
		})
	}
}

// TestRunJobOnce has the answer lost of a call that started the Job.
func TestRunJobOnce(t *testing.T) {
	t.Parallel()
	w := start(t, func(c *argotest.Config) {
		c.Middleware = func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
				if !strings.HasSuffix(r.URL.Path, "/RunResourceAction") {
					next.ServeHTTP(out, r)
					return
				}
				next.ServeHTTP(httptest.NewRecorder(), r.Clone(r.Context()))
				answerWith(out, r, codes.Unavailable, "transport is closing")
			})
		}
	})
	w.withCronJob("smoke", "v1")
	got, err := w.newClient(token).RunJob(w.auth(), argo.App{Name: app}, "smoke")
	if jobs := w.Jobs("production"); err != nil || !got.Succeeded || len(jobs) != 1 {
		t.Errorf("got %+v, error %v, of the Jobs %v", got, err, jobs)
	}
}

// TestRunJobNeverStarted has an Argo CD that cannot say whether it has started the
// Job, until there is no more time.
func TestRunJobNeverStarted(t *testing.T) {
	t.Parallel()
	ctx, end := context.WithCancelCause(t.Context())
	var asked atomic.Int32
	w := start(t, func(c *argotest.Config) {
		c.Middleware = func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
				if !strings.HasSuffix(r.URL.Path, "/RunResourceAction") {
					next.ServeHTTP(out, r)
					return
				}
				if asked.Add(1) == 2 {
					end(errors.New("no answer in time"))
				}
				answerWith(out, r, codes.Internal, "error running the script of the action")
			})
		}
	})
	w.withCronJob("smoke", "v1")
	_, err := w.newClient(token).RunJob(ctx, argo.App{Name: app}, "smoke")
	if err == nil || !strings.Contains(err.Error(), "error running the script of the action") {
		t.Errorf("error %v, want what Argo CD said", err)
	}
}

// answerWith is one without a message.
func answerWith(out http.ResponseWriter, r *http.Request, code codes.Code, says string) {
	out.Header().Set("Content-Type", r.Header.Get("Content-Type"))
	out.Header().Set("Grpc-Status", strconv.Itoa(int(code)))
	out.Header().Set("Grpc-Message", says)
}

// TestMayStartJobs asks for the right, which starts nothing.
func TestMayStartJobs(t *testing.T) {
	t.Parallel()
	for want, adjust := range map[bool]func(*argotest.Config){true: nil, false: mayNotStartJobs} {
		w := start(t, adjust)
		w.withCronJob("smoke", "v1")
		client := w.newClient(token)
		setup := client.Essentials(w.auth(), argo.Target{}, w.settledApplication(), argo.MayStartJobs)
		if may, asked := setup.Can[argo.MayStartJobs]; may != want || !asked || len(setup.Unread) > 0 {
			t.Errorf("got %v, want %v, unread %v", setup.Can, want, setup.Unread)
		}
	}
}
