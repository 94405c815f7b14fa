package prometheus

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
)

// An Answer is the value of a query.
type Answer struct {
	// Scalar is whether the query gives a number and no series; it is then the only sample.
	Scalar bool
	// Samples are in the order of the answer. There may be none.
	Samples []Sample
	// Warnings are what Prometheus says beside its answer, such as that a part of the
	// series could not be read. They are as it wrote them: to be cut before they are shown.
	Warnings []string
}

// A Sample is one value of a series. It may be NaN or infinite.
type Sample struct {
	Labels map[string]string
	Value  float64
}

// reply is the body of every answer.
type reply struct {
	Status    string
	Data      data
	ErrorType string
	Error     string
	Warnings  []string
}

type data struct {
	ResultType string
	Result     json.RawMessage
}

// series is one of a vector or of a matrix.
type series struct {
	Metric     map[string]string
	Value      json.RawMessage
	Values     []json.RawMessage
	Histogram  json.RawMessage
	Histograms json.RawMessage
}

// words are what Prometheus says of an error.
func (r reply) words() string {
	if r.ErrorType == "" {
		return r.Error
	}
	return r.ErrorType + ": " + r.Error
}

// decode reads the body of an answer with status 200.
func decode(body []byte) (Answer, error) {
	var said reply
	if err := json.Unmarshal(body, &said); err != nil {
		return Answer{}, fmt.Errorf("the answer is none of Prometheus' API: %w", err)
	}
	switch {
	case said.Error != "":
		return Answer{}, errors.New(said.words())
	case said.Status != "success":
		return Answer{}, fmt.Errorf("the answer is none of Prometheus' API: expected status success, got %q", said.Status)
	}
	samples, err := said.Data.samples()
	if err != nil {
		return Answer{}, fmt.Errorf("the answer is none of Prometheus' API: %w", err)
	}
	return Answer{Scalar: said.Data.ResultType == "scalar", Samples: samples, Warnings: said.Warnings}, nil
}

func (d data) samples() ([]Sample, error) {
	switch d.ResultType {
	case "scalar":
		value, err := number(d.Result)
		return []Sample{{Value: value}}, err
	case "vector", "matrix":
	default:
		return nil, fmt.Errorf("expected numbers, got the type %q", d.ResultType)
	}
	var all []series
	if err := json.Unmarshal(d.Result, &all); err != nil || all == nil {
		return nil, fmt.Errorf("the %s has no list of series", d.ResultType)
	}
	var samples []Sample
	for _, s := range all {
		points, err := s.points(d.ResultType)
		if err != nil {
			return nil, err
		}
		for _, point := range points {
			value, err := number(point)
			if err != nil {
				return nil, err
			}
			samples = append(samples, Sample{s.Metric, value})
		}
	}
	return samples, nil
}

// points are the values of a series. A native histogram stands beside them or in
// their place, and is no number.
func (s series) points(kind string) ([]json.RawMessage, error) {
	switch {
	case s.Histogram != nil || s.Histograms != nil:
		return nil, errors.New("expected numbers, got a native histogram")
	case kind == "vector":
		return []json.RawMessage{s.Value}, nil
	case s.Values == nil:
		return nil, errors.New("a series has no values")
	}
	return s.Values, nil
}

// number reads a point, which is a time and the value as text: [1435781451.781, "1"].
func number(point json.RawMessage) (float64, error) {
	var pair []json.RawMessage
	if err := json.Unmarshal(point, &pair); err != nil || len(pair) != 2 {
		return 0, fmt.Errorf("expected a value with its time, got %q", point)
	}
	var at float64
	var text string
	if json.Unmarshal(pair[0], &at) != nil || json.Unmarshal(pair[1], &text) != nil {
		return 0, fmt.Errorf("expected a value with its time, got %q", point)
	}
	value, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, fmt.Errorf("expected a number, got %q", text)
	}
	return value, nil
}
