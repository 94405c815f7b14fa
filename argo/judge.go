package argo

import (
	"fmt"
	"time"

	"github.com/acme/knative-promote/internal/oneline"
)

// Grace is how long a trouble that may pass by itself lasts before it is a failure.
// Knative shows RevisionMissing and ContainerMissing for moments in good rollouts
// (https://github.com/knative/serving/issues/4173).
const Grace = 30 * time.Second

// Judge tells whether the intent is live. It is a pure function of what was seen
// and, in a wait, of what is known from before, and never Live unless all of these hold:
//
//   - the Application still is the same one, deploys the intent's source, and shows no
//     error that concerns the commit;
//   - the revision it was compared with is the commit or a descendant that carries the
//     same values, no operation is running, the operation for that revision succeeded
//     if there was one, and the comparison is not older than the operation's end;
//   - it is Synced, or what is out of sync is not the Service and waits to be pruned, went
//     out of sync again after a full, successful operation, or could not be applied by one
//     that has applied the Service;
//   - or that revision is such a descendant, and only its own sync runs, failed, or has
//     not begun: once the Service is as intended, that is the affair of whoever made it;
//   - the live Service is at its observed generation with Ready True, has the intended
//     template name, images and traffic, and status.traffic agrees;
//   - the Revision is Ready and has the intended images.
//
// Of an intent for the traffic only, the template, its Revision and the Service's Ready
// are not looked at, but RoutesReady is.
//
// It is Failed at once for what cannot pass: the Application deleted, recreated or
// redirected, the operation for our revision failed for good or the Service refused by
// an admission webhook or its schema, the Revision past its progress deadline since the
// commit was applied, unless that restores it. Any other trouble fails after it has lasted for Grace, unless it is
// one of Argo CD's comparison while the live Service is as intended.
func Judge(in Intent, ob Observed, before Memory) Verdict {
	if before.recreated(in, ob) {
		return *failed("application %s was deleted and created anew while waiting", in.App)
	}
	v := judge(in, ob)
	if v.Trouble != "" && !v.Intended && v.Trouble == before.Trouble && before.TroubleFor >= Grace {
		v.State = Failed
		v.Reason = fmt.Sprintf("%s (for %s)", v.Reason, before.TroubleFor.Truncate(time.Second))
	}
	if v.State == Wait && before.Note != "" {
		v.Reason += "; " + before.Note
	}
	return v
}

// judge goes from the outside to the inside and stops at the first thing to say.
func judge(in Intent, ob Observed) Verdict {
	if v := first(in, ob, judgeApplication, judgeLive); v != nil {
		return *v
	}
	return Verdict{State: Live, Reason: fmt.Sprintf("%s is live in %s at %s", in.Service, in.App, short(compared(in, ob)))}
}

// judgeApplication looks at what Argo CD says.
func judgeApplication(in Intent, ob Observed) *Verdict {
	return first(in, ob, judgeIdentity, judgeConditions, judgeRelation, judgeOperation, judgeSync)
}

// judgeLive looks at the live Service and its Revision, whatever Argo CD says of them.
func judgeLive(in Intent, ob Observed) *Verdict {
	if in.TrafficOnly {
		return first(in, ob, judgeThere, judgeSpec, judgeRoutes, judgeTraffic)
	}
	return first(in, ob, judgeThere, judgeTemplate, judgeSpec, judgeRevisionFailed, judgeReady, judgeTraffic, judgeRevision)
}

// first is what the first of the rules has to say that has something to say.
func first(in Intent, ob Observed, rules ...func(Intent, Observed) *Verdict) *Verdict {
	for _, rule := range rules {
		if v := rule(in, ob); v != nil {
			return v
		}
	}
	return nil
}

func wait(format string, args ...any) *Verdict {
	return &Verdict{State: Wait, Reason: fmt.Sprintf(format, args...)}
}

func failed(format string, args ...any) *Verdict {
	return &Verdict{State: Failed, Reason: fmt.Sprintf(format, args...)}
}

func unapplied(format string, args ...any) *Verdict {
	return &Verdict{State: Failed, Unapplied: true, Reason: fmt.Sprintf(format, args...)}
}

func troubled(trouble, format string, args ...any) *Verdict {
	return &Verdict{State: Wait, Trouble: trouble, Reason: fmt.Sprintf(format, args...)}
}

// short is a commit's hash as people write it.
func short(hash string) string {
	if len(hash) > 8 {
		hash = hash[:8]
	}
	return oneline.Brief(hash)
}
