package plan

import (
	"time"

	"github.com/acme/knative-promote/promote/record"
)

// Settings are what a run is asked for, as far as its plan and the records of its commits
// go by it.
type Settings struct {
	Steps        []Step   // at least one, percentages rising, none over 100
	CandidateTag string   // tag of the new revision below 100 %
	KeepPrevious bool     // keep the old revision at 0 % under the tag `previous`
	Also         []string // what keeps running and may move with the images, as Kind/name

	RunURL   string      // the workflow run
	Actor    string      // who started it
	Approved string      // who has approved of it
	Code     record.Code // the commit of the service's own repository that it was started for
}

// A Step is a share of the traffic and how long the service must stay good
// with it before the next one.
type Step struct {
	Percent int
	Bake    time.Duration
	AtOnce  bool // in the place of all steps, so that what is asked after any of them is asked after it
}
