package event

// Status is how a run ended.
type Status string

// The statuses, as the `status` output shows them.
const (
	Promoted   Status = "promoted"
	Unchanged  Status = "unchanged"
	Prepared   Status = "prepared" // a pull request's branch has a new commit
	RolledBack Status = "rolled-back"
	Held       Status = "held"
	Superseded Status = "superseded"
	Frozen     Status = "frozen"     // before its first commit
	NotYet     Status = "not-yet"    // the environment that the images come from has not shown yet that they are good
	Proposed   Status = "proposed"   // the next commit is a pull request that the run does not wait for
	NotMerged  Status = "not-merged" // the next commit is a pull request that was not merged
	Failed     Status = "failed"
	Cancelled  Status = "cancelled"
)

// An End is a way in which a run ends, and what it means to whoever hears of it.
type End struct {
	Status Status
	Icon   string // on pages
	Words  string // on pages; RUN stands for promotion or rollback, and AT for the share that the last commit set
	Code   int    // exit code; 0: that of the error which the run ends with, if there is one
	Bad    bool   // also without an error
	GoesOn bool   // the same run goes on from there when it is started again
	State  string // of the deployment that shows the promotion; empty: it is under way still
	Shown  string // there, in words; STEP stands for the last step
}

// Ends are all ways in which a run ends.
func Ends() []End {
	const passed = "STEP: all gates have passed"
	return []End{
		{Status: Promoted, Icon: "✅", Words: "promoted", State: "success", Shown: passed},
		{Status: Unchanged, Icon: "☑️", Words: "nothing to change", State: "success", Shown: passed},
		{Status: Prepared, Icon: "✅", Words: "prepared"},
		{Status: RolledBack, Icon: "↩️", Words: "RUN failed, rolled back", Code: 8, State: "failure", Shown: "rolled back at STEP"},
		{Status: Held, Icon: "⏸️", Words: "RUNAT, held", Code: 9, GoesOn: true, Shown: "held at STEP"},
		{Status: Superseded, Icon: "⏭️", Words: "RUN superseded by a newer change", Code: 6, Bad: true, State: "inactive", Shown: "superseded at STEP"},
		{Status: Frozen, Icon: "❄️", Words: "RUN frozen", Code: 15, Bad: true, GoesOn: true, State: "error", Shown: "the run ended at STEP, as frozen"},
		{Status: NotYet, Icon: "⏳", Words: "RUN not yet possible", Code: 15, Bad: true, GoesOn: true, State: "error", Shown: "the run ended at STEP, as not-yet"},
		{Status: Proposed, Icon: "📬", Words: "RUNAT, a pull request is open", GoesOn: true, Shown: "STEP: the next step is proposed"},
		{Status: NotMerged, Icon: "🚧", Words: "RUNAT, a pull request was not merged", Code: 17, Bad: true, GoesOn: true, State: "error", Shown: "the run ended at STEP, as not-merged"},
		{Status: Failed, Icon: "❌", Words: "RUN failedAT", Bad: true, State: "error", Shown: "the run ended at STEP, as failed"},
		{Status: Cancelled, Icon: "🛑", Words: "RUN cancelledAT", Code: 11, Bad: true, GoesOn: true, State: "error", Shown: "the run ended at STEP, as cancelled"},
	}
}

// End is the end with the status; the zero End while the run goes on.
func (s Status) End() End {
	for _, e := range Ends() {
		if e.Status == s {
			return e
		}
	}
	return End{}
}
