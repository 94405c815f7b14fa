package promotetest

import (
	"fmt"
	"path"
	"time"

	"github.com/acme/knative-promote/promote/windows"
)

// notFrozen tells whether a commit began a promotion or gave its revision more
// traffic on a tip whose windows are closed. Those of tests are so for a test's
// time.
func (j judge) notFrozen(before, c Commit) error {
	file, step := before.Files[".promote/windows.yaml"], c.step()
	shifts := step != "restore" && step != "rollback" && c.Trailers["Promotion-From"] != c.Trailers["Promotion-To"]
	if file == nil || c.isClosing() || !shifts || c.Trailers["Promotion-Override"] != "" {
		return nil
	}
	schedule, err := windows.Parse(file.Data)
	if err != nil {
		return fmt.Errorf("was made on windows that cannot be read: %w", err)
	}
	// An environment is called by its folder, or by the one above, as in envs/production/checkout.
	if state := schedule.At(time.Now(), j.Service, windows.Environment{Own: []string{path.Base(j.Overlay), path.Base(path.Dir(j.Overlay))}}); !state.Open() {
		return fmt.Errorf("was made in a freeze: %s", state.Closed[0])
	}
	return nil
}
