package policy

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/acme/knative-promote/internal/apart"
)

// Apart compiles and evaluates policies, in a process of its own if the program has one:
// expressions may double what they make with each word, and nobody counts that. The API
// server's limits allow about a second for one policy and one object.
var Apart = apart.Part{Name: "the evaluation of policies", Most: 30 * time.Second, Do: serve}

// A task is policies to compile, and renders to ask them about.
type task struct {
	Files     []file
	Namespace string
	Renders   [][]byte // in JSON, of each its objects
}

// An outcome is why the files hold no policies, or what these say.
type outcome struct {
	Refused string
	Denials []byte // in JSON
}

func ask(ctx context.Context, t task) ([]Denial, error) {
	var o outcome
	err := apart.Do(ctx, Apart, func(c *apart.Conn) error {
		if err := c.Send(t); err != nil {
			return err
		}
		return c.Receive(&o)
	})
	switch {
	case err != nil:
		return nil, err
	case o.Refused != "":
		return nil, errors.New(o.Refused)
	}
	var denials []Denial
	return denials, json.Unmarshal(o.Denials, &denials)
}

func serve(c *apart.Conn) error {
	var t task
	if err := c.Receive(&t); err != nil {
		return err
	}
	var o outcome
	denials, err := t.do()
	if err == nil {
		o.Denials, err = json.Marshal(denials)
	}
	if err != nil {
		o.Refused = err.Error()
	}
	return c.Send(o)
}

func (t task) do() ([]Denial, error) {
	policies, err := compiledOf(t.Files)
	if err != nil {
		return nil, err
	}
	var all []Denial
	var before []unstructured.Unstructured
	for i, text := range t.Renders {
		var objects []unstructured.Unstructured
		if err := json.Unmarshal(text, &objects); err != nil {
			return nil, err
		}
		if i > 0 {
			for _, d := range evaluate(policies, before, objects, t.Namespace) {
				if !slices.ContainsFunc(all, d.repeats) {
					all = append(all, d)
				}
			}
		}
		before = objects
	}
	return all, nil
}
