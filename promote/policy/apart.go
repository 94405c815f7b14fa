package policy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
	Refused   string
	Denied    []denied
	Unmatched []Unmatched
}

// denied is a denial, with where its object stands in the task, which need not be sent back.
type denied struct {
	Denial         Denial
	Render, Object int
}

// mostDenied is how many denials are told.
const mostDenied = 10_000

func ask(ctx context.Context, t task) (outcome, error) {
	var o outcome
	err := apart.Do(ctx, Apart, func(c *apart.Conn) error {
		if err := c.Send(t); err != nil {
			return err
		}
		return c.Receive(&o)
	})
	if err == nil && o.Refused != "" {
		err = errors.New(o.Refused)
	}
	return o, err
}

func serve(c *apart.Conn) error {
	var t task
	if err := c.Receive(&t); err != nil {
		return err
	}
	o, err := t.do()
	if err != nil {
		o = outcome{Refused: err.Error()}
	}
	return c.Send(o)
}

func (t task) do() (o outcome, err error) {
	policies, err := compiledOf(t.Files)
	if err != nil {
		return o, err
	}
	renders := make([][]unstructured.Unstructured, len(t.Renders))
	said := map[string][]Denial{} // of each object
	for i, text := range t.Renders {
		if err := json.Unmarshal(text, &renders[i]); err != nil {
			return o, err
		}
		if i == 0 {
			continue
		}
		old := byIdentity(renders[i-1])
		for at, object := range renders[i] {
			name := identity(object)
			news := slices.DeleteFunc(evaluate(policies, object, old, t.Namespace), func(d Denial) bool { return slices.ContainsFunc(said[name], d.repeats) })
			if said[name] = append(said[name], news...); len(o.Denied)+len(news) > mostDenied {
				return o, fmt.Errorf("they say more than %d things of the overlay: expected fewer", mostDenied)
			}
			for _, d := range news {
				o.Denied = append(o.Denied, denied{d, i, at})
			}
		}
	}
	for _, p := range policies {
		if !p.asked {
			o.Unmatched = append(o.Unmatched, Unmatched{p.name, p.file})
		}
	}
	return o, nil
}
