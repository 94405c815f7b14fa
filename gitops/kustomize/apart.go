package kustomize

import (
	"context"
	"errors"

	"github.com/acme/knative-promote/internal/apart"
)

// Apart renders, in a process of its own if the program has one: it gets the files that kustomize asks for and no others.
var Apart = apart.Part{Name: "kustomize", Most: renderTimeout, Do: serve}

// A task is what is to be rendered, with what is known of the tree: to be asked for all of that takes longer than a small render.
type task struct {
	Dir       string
	Schema    bool // the overlay brings its own OpenAPI schema
	Questions []question
	Answers   []answer // to these, one after the other
}

func (o *overlay) task(dir string) task {
	t := task{Dir: dir, Schema: o.schema}
	for _, a := range o.asked.asked {
		t.Questions, t.Answers = append(t.Questions, a.question), append(t.Answers, a.answer)
	}
	return t
}

// A message is what was built, or why it could not be, or else a question about the tree.
type message struct {
	Question question
	Built    *built
	Failed   string
}

// ask has kustomize build the folder dir, and answers what it asks.
func (o *overlay) ask(ctx context.Context, dir string) (built, error) {
	var m message
	err := apart.Do(ctx, Apart, func(c *apart.Conn) error {
		err := c.Send(o.task(dir))
		for err == nil {
			m = message{}
			if err = c.Receive(&m); err != nil || m.Built != nil || m.Failed != "" {
				break
			}
			err = c.Send(o.answer(m.Question))
		}
		return err
	})
	switch {
	case err != nil:
		return built{}, err
	case m.Failed != "":
		return built{}, errors.New(m.Failed)
	}
	return *m.Built, nil
}

// answer is what the overlay's tree says to a question beyond what the task has: to one about what was not inspected.
func (o *overlay) answer(q question) answer {
	t := newQuestioned(o.asked)
	t.ask(q)
	return t.asked[0].answer
}
