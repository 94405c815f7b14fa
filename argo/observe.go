package argo

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/argoproj/gitops-engine/pkg/sync/common"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"knative.dev/pkg/apis"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"
)

// Check compares the Application with Git anew, reads what is live, and judges once.
func (c *Client) Check(ctx context.Context, in Intent) (Verdict, Observed, error) {
	observed, err := c.observe(ctx, in, v1alpha1.RefreshTypeNormal, nil)
	if err != nil {
		return Verdict{}, observed, err
	}
	return Judge(in, observed, Memory{}), observed, nil
}

// observe reads the Application and, once what Argo CD says of our commit is good, the
// live Service and its Revision. What does not exist yet stays nil. Where known is given
// and the Application stands still, known is what is observed.
func (c *Client) observe(ctx context.Context, in Intent, refresh v1alpha1.RefreshType, known *Observed) (Observed, error) {
	app, err := c.application(ctx, in.App, refresh)
	if err != nil {
		return Observed{}, err
	}
	if known != nil && standsStill(in, known.App, app) {
		return *known, nil
	}
	observed := Observed{App: app}
	if observed.Relation, err = relate(ctx, in, compared(in, observed)); err != nil {
		return observed, err
	}
	observed.RolledBack = syncsRolledBack(ctx, in, observed)
	if observed.Relation.ours() && StaysOutOfSync(app) {
		live, err := c.service(ctx, in.App, app, in.Service)
		if err := unlessMissing(unlessListed(err, app, in.Service)); err != nil {
			return Observed{}, err // nothing is asked of Argo CD meanwhile
		}
		if observed.Moved, err = Moved(ctx, in, app, live); err != nil {
			return Observed{}, err
		}
		if observed.Moved.Service != "" {
			observed.Service = live
		}
	}
	blind := compared(in, observed) == "" && slices.ContainsFunc(app.Status.Conditions, uncompared)
	if blind {
		observed.Relation = relateTip(ctx, in)
	}
	switch {
	case blind && observed.Relation != Displaced:
	case !observed.Relation.ours(), observed.Relation == Same && judgeApplication(in, observed) != nil:
		return observed, nil
	}
	observed.Operation = relateOperation(ctx, in, observed)
	if observed.Shown, err = showing(ctx, in, observed); err != nil {
		return observed, err
	}
	if observed.Service, err = c.service(ctx, in.App, app, in.Service); err != nil {
		return observed, unlessMissing(err)
	}
	name := wanted(in, observed)
	if name == "" || in.TrafficOnly || observed.Service.Status.GetCondition(apis.ConditionReady).IsUnknown() {
		return observed, nil // there is nothing to learn from it yet
	}
	observed.Revision, err = c.Revision(ctx, in.App, observed.Service.Namespace, name)
	return observed, unlessMissing(err)
}

// relate asks the intent how a compared revision relates to its commit.
func relate(ctx context.Context, in Intent, revision string) (Relation, error) {
	switch {
	case revision == "":
		return Unknown, nil
	case revision == in.Commit:
		return Same, nil
	case in.Carries == nil:
		return Behind, nil
	}
	carries, err := in.Carries(ctx, revision)
	switch {
	case errors.Is(err, ErrBehind):
		return Behind, nil
	case err != nil:
		return Unknown, fmt.Errorf("looking for %s in %s: %w", short(in.Commit), short(revision), err)
	case carries:
		return Carrying, nil
	}
	return Displaced, nil
}

// showing is the traffic of a compared revision that carries the intent's values, as far as it can be read.
func showing(ctx context.Context, in Intent, ob Observed) ([]servingv1.TrafficTarget, error) {
	if ob.Relation != Carrying {
		return nil, nil
	}
	traffic, _, err := givenBy(ctx, in, compared(in, ob))
	return traffic, err
}

// relateTip asks the intent about the branch's tip, where Argo CD could not compare it.
// Only a clear no is an answer: a tip that Argo CD cannot render need not be readable.
func relateTip(ctx context.Context, in Intent) Relation {
	if in.Carries == nil {
		return Unknown
	}
	if carries, err := in.Carries(ctx, ""); err == nil && !carries {
		return Displaced
	}
	return Unknown
}

// relateOperation asks about a running operation beside a commit on top of ours. In a
// busy repository there are further commits before a long hook ends. Where nobody can
// tell, the operation is judged as if it took our values away.
func relateOperation(ctx context.Context, in Intent, ob Observed) Relation {
	state, revision := ob.App.Status.OperationState, syncRevision(in, ob.App)
	if ob.Relation != Carrying || state == nil || state.Phase.Completed() || revision == compared(in, ob) {
		return Unknown
	}
	relation, err := relate(ctx, in, revision)
	if err != nil {
		return Unknown
	}
	return relation
}

// syncsRolledBack asks the intent whether it rolls back what is being synced. Where
// nobody can tell, it does not.
func syncsRolledBack(ctx context.Context, in Intent, ob Observed) bool {
	state, revision := ob.App.Status.OperationState, syncRevision(in, ob.App)
	if in.RollsBack == nil || !ob.Relation.ours() || state == nil || state.Phase != common.OperationRunning ||
		revision == "" || revision == compared(in, ob) || revision == in.Commit {
		return false
	}
	rollsBack, err := in.RollsBack(ctx, revision)
	return err == nil && rollsBack
}

// once asks only once about a revision: the question may look into Git, and an answer
// does not change, but that about the branch's tip. Errors are asked again.
func once[T any](question func(context.Context, string) (T, error)) func(context.Context, string) (T, error) {
	if question == nil {
		return nil
	}
	answers := map[string]T{}
	return func(ctx context.Context, revision string) (T, error) {
		if answer, known := answers[revision]; known {
			return answer, nil
		}
		answer, err := question(ctx, revision)
		if err == nil && revision != "" {
			answers[revision] = answer
		}
		return answer, err
	}
}

func unlessMissing(err error) error {
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

// isTimeout tells a refresh that nobody answered from one that was refused. Argo CD
// reports its own deadline with an error of no particular code
// (https://github.com/argoproj/argo-cd/blob/v2.14.21/server/application/application.go#L797-L800).
func isTimeout(err error) bool {
	code := status.Code(err)
	return code == codes.DeadlineExceeded || code == codes.Unknown || errors.Is(err, context.DeadlineExceeded)
}
