// Package jsonpath finds a value in JSON by a JSONPath of Kubernetes
// (https://kubernetes.io/docs/reference/kubectl/jsonpath/), within bounds.
//
// Kubernetes' own package has none: each descent (..) copies what is below once more
// for each level, so that three of them take gigabytes for an answer of 600 bytes. A
// path is therefore refused where it could come to much more than the answer has. In
// what is left one evaluation takes as long as the answer is, not as an attacker
// likes, so that one which has outlived its context ends soon by itself.
package jsonpath

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/client-go/util/jsonpath"
)

// maxDepth is how deep the values of an answer nest that a descent goes through.
const maxDepth = 64

// Find is the first value that a path finds in what encoding/json has made of an
// answer. It ends with its context.
func Find(ctx context.Context, path string, data any) (any, error) {
	type found struct {
		value any
		err   error
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	done := make(chan found, 1)
	go func() {
		value, err := first(path, data)
		done <- found{value, err}
	}()
	select {
	case f := <-done:
		return f.value, f.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// first finds the value. Kubernetes' package panics at some answers, such as null
// where a path goes into a list.
func first(path string, data any) (value any, err error) {
	defer func() {
		if recover() != nil {
			value, err = nil, errors.New("it cannot be looked for in this answer")
		}
	}()
	needs, err := read(path)
	if err != nil {
		return nil, err
	}
	if data == nil {
		return nil, errors.New("it is null")
	}
	if d := depth(data); needs.descents > 0 && d > maxDepth {
		return nil, fmt.Errorf("it nests values %d deep, and .. goes through at most %d: name the way to the value", d, maxDepth)
	}
	parser := jsonpath.New("metric")
	if err := parser.Parse(path); err != nil {
		return nil, err
	}
	all, err := parser.FindResults(data)
	if err != nil {
		return nil, err
	}
	for _, values := range all {
		for _, v := range values {
			return v.Interface(), nil
		}
	}
	return nil, errors.New("it finds nothing")
}

// depth is how deep lists and mappings are in each other.
func depth(data any) int {
	deepest := 0
	switch d := data.(type) {
	case []any:
		for _, child := range d {
			deepest = max(deepest, depth(child))
		}
	case map[string]any:
		for _, child := range d {
			deepest = max(deepest, depth(child))
		}
	default:
		return 0
	}
	return deepest + 1
}
