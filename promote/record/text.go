package record

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Encode is the record as text, the oldest entries left out where it would be
// too long.
func (r Record) Encode() ([]byte, error) {
	if !r.Exists() {
		return nil, nil
	}
	r.Format = formatNumber
	r.Passed, r.Gate, r.Started = second(r.Passed), word(r.Gate), second(r.Started)
	r.Run, r.Actor, r.Approved, r.Code = word(r.Run), word(r.Actor), word(r.Approved), r.Code.short()
	for {
		text, err := textOf(r)
		if err != nil {
			return nil, fmt.Errorf("writing the record: %w", err)
		}
		if len(text) <= limit {
			return text, checkRecord(r)
		}
		if len(r.Past) == 0 {
			return nil, fmt.Errorf("writing the record: the names of the images are too long for it: it would have %d bytes, and may have %d", len(text), limit)
		}
		r.Past, r.Cut = r.Past[:len(r.Past)-1], true
	}
}

func second(at time.Time) time.Time { return at.UTC().Truncate(time.Second) }

func (c Code) short() Code { return Code{word(c.Commit), second(c.At)} }

// textOf is the record in YAML and a checksum of that, so that one which is cut or
// was merged is told. Each key of the record and of an entry begins a line.
func textOf(r Record) ([]byte, error) {
	text, err := keysOf(r)
	if err != nil {
		return nil, err
	}
	text += r.Unknown
	if len(r.Past) > 0 {
		text += "past:\n"
	}
	for _, e := range r.Past {
		keys, err := keysOf(e)
		if err != nil {
			return nil, err
		}
		text += indented(keys + e.Unknown)
	}
	return append([]byte(text), checksumKey+checksum([]byte(text))+"\n"...), checkBreaks([]byte(text))
}

// checksumKey begins the last line of a record.
const checksumKey = "checksum: "

func checksum(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:4])
}

// checkBreaks refuses what ends a comment in YAML.
func checkBreaks(text []byte) error {
	if bytes.ContainsAny(text, "\r\u0085\u2028\u2029") {
		return errors.New("a value has a line break")
	}
	return nil
}

// word makes one short line of what is for people.
func word(text string) string {
	text = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "?"), func(r rune) bool {
		return r == ' ' || !strconv.IsPrint(r)
	}), " ")
	for len(text) > WordLimit {
		text = strings.ToValidUTF8(text[:WordLimit], "")
	}
	return text
}

var formatLine = regexp.MustCompile(`(?m)^record: ([0-9]{1,9})$`)

// Parse reads a record. Keys that only another version knows are kept as they
// stand: no rollback may end because somebody has tried a newer version. What is not
// to be read like this has another number.
func Parse(text []byte) (Record, error) {
	if len(text) == 0 {
		return Record{}, nil
	}
	if len(text) > limit {
		return Record{}, fmt.Errorf("it has %d bytes, and may have %d", len(text), limit)
	}
	if format := formatLine.FindSubmatch(text); format != nil && string(format[1]) != strconv.Itoa(formatNumber) {
		return Record{}, fmt.Errorf("its format is %s, and this version reads %d", format[1], formatNumber)
	}
	end := bytes.LastIndex(text, []byte("\n"+checksumKey)) + 1
	if end == 0 {
		return Record{}, errors.New("its end is missing")
	}
	if string(text[end:]) != checksumKey+checksum(text[:end])+"\n" {
		return Record{}, errors.New("its checksum does not fit: lines were changed, lost or merged")
	}
	if err := checkBreaks(text); err != nil {
		return Record{}, err
	}
	r, err := readRecord(text[:end])
	if err != nil {
		return Record{}, fmt.Errorf("it is not written as knative-promote writes it: %s", word(err.Error()))
	}
	return r, checkRecord(r)
}

var (
	recordID   = regexp.MustCompile(`^[0-9a-f]{12}$`)
	recordTag  = regexp.MustCompile(`^([a-z0-9-]{1,63})?$`)
	recordBase = regexp.MustCompile(`^([0-9a-f]{40})?$`)
	revision   = regexp.MustCompile(`^([a-z0-9][a-z0-9.-]{0,252})?$`)
	oneRecord  = regexp.MustCompile(`^(candidate|[1-9][0-9]?|100|restore|rollback)$`)
)

// checkRecord says what of a record cannot be.
func checkRecord(r Record) error {
	switch {
	case r.Format != formatNumber:
		return fmt.Errorf("its format is %d, and this version reads %d", r.Format, formatNumber)
	case !recordID.MatchString(r.Promotion):
		return fmt.Errorf("promotion: %q is no id", r.Promotion)
	case !oneRecord.MatchString(r.Step):
		return fmt.Errorf("step: %q is no step", r.Step)
	case r.Percent != ShareOf(r.Step):
		return fmt.Errorf("percent: %d does not belong to step %s", r.Percent, r.Step)
	case r.Reached < r.Percent || r.Reached > 100:
		return fmt.Errorf("reached: %d is no highest share of step %s", r.Reached, r.Step)
	case !recordTag.MatchString(r.Tag):
		return fmt.Errorf("tag: %q is no tag", r.Tag)
	case r.To.IsZero():
		return errors.New("to: a revision is missing")
	case !recordBase.MatchString(r.Commit):
		return fmt.Errorf("commit: %q is no commit", r.Commit)
	case !recordBase.MatchString(r.Base):
		return fmt.Errorf("base: %q is no commit", r.Base)
	case r.Pull < 0:
		return fmt.Errorf("pull-request: %d is no number of one", r.Pull)
	case len(r.Past) > 2*pastLimit:
		return fmt.Errorf("past: there are %d entries, and may be %d", len(r.Past), 2*pastLimit)
	}
	return checkRevisions(r)
}

// checkRevisions says of a revision that it has no name of one: names stand in commands to paste.
func checkRevisions(r Record) error {
	all := []Version{r.To, r.From}
	for _, e := range r.Past {
		all = append(all, e.To, e.From)
	}
	for _, v := range all {
		if !revision.MatchString(v.Revision) {
			return fmt.Errorf("revision: %q is no name of one", v.Revision)
		}
	}
	return nil
}
