package promote

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// encode is the record as text, the oldest entries left out where it would be
// too long.
func (r Record) encode() ([]byte, error) {
	if !r.exists() {
		return nil, nil
	}
	r.Format = recordFormat
	r.Started, r.Passed = r.Started.UTC().Truncate(time.Second), r.Passed.UTC().Truncate(time.Second)
	r.Run, r.Actor, r.Approved, r.Code = word(r.Run), word(r.Actor), word(r.Approved), word(r.Code)
	for {
		text, err := r.text()
		if err != nil {
			return nil, fmt.Errorf("writing the record: %w", err)
		}
		if len(text) <= recordLimit {
			return text, r.check()
		}
		if len(r.Past) == 0 {
			return nil, fmt.Errorf("writing the record: the names of the images are too long for it: it would have %d bytes, and may have %d", len(text), recordLimit)
		}
		r.Past = r.Past[:len(r.Past)-1]
	}
}

// text is the record in YAML and a checksum of that, so that one which is cut or
// was merged is told.
func (r Record) text() ([]byte, error) {
	var b bytes.Buffer
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	if err := encoder.Encode(r); err != nil {
		return nil, err
	}
	if bytes.ContainsAny(b.Bytes(), "\r\u0085\u2028\u2029") { // YAML ends a comment there
		return nil, errors.New("a value has a line break")
	}
	sum := sha256.Sum256(b.Bytes())
	return append(b.Bytes(), "checksum: "+hex.EncodeToString(sum[:4])+"\n"...), nil
}

// word makes one short line of what is for people.
func word(text string) string {
	text = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "?"), func(r rune) bool {
		return r == ' ' || !strconv.IsPrint(r)
	}), " ")
	for len(text) > wordLimit {
		text = strings.ToValidUTF8(text[:wordLimit], "")
	}
	return text
}

// parseRecord reads a record. It takes nothing that it would not have written
// itself.
func parseRecord(text []byte) (Record, error) {
	if len(text) == 0 {
		return Record{}, nil
	}
	if len(text) > recordLimit {
		return Record{}, fmt.Errorf("it has %d bytes, and may have %d", len(text), recordLimit)
	}
	end := bytes.LastIndex(text, []byte("checksum: "))
	if end < 0 {
		return Record{}, errors.New("its end is missing")
	}
	var r Record
	decoder := yaml.NewDecoder(bytes.NewReader(text[:end]))
	decoder.KnownFields(true)
	if err := decoder.Decode(&r); err != nil && !errors.Is(err, io.EOF) {
		return Record{}, fmt.Errorf("it is not written as this version writes it: %s", word(err.Error()))
	}
	if err := r.check(); err != nil {
		return Record{}, err
	}
	if again, err := r.text(); err != nil || !bytes.Equal(again, text) {
		return Record{}, errors.New("its checksum does not fit: lines were changed, lost or merged")
	}
	return r, nil
}

var (
	recordID   = regexp.MustCompile(`^[0-9a-f]{12}$`)
	recordBase = regexp.MustCompile(`^([0-9a-f]{40})?$`)
	oneRecord  = regexp.MustCompile(`^(candidate|[1-9][0-9]?|100|restore|rollback)$`)
)

// check says what of a record cannot be.
func (r Record) check() error {
	switch {
	case r.Format != recordFormat:
		return fmt.Errorf("its format is %d, and this version reads %d", r.Format, recordFormat)
	case !recordID.MatchString(r.Promotion):
		return fmt.Errorf("promotion: %q is no id", r.Promotion)
	case !oneRecord.MatchString(r.Step):
		return fmt.Errorf("step: %q is no step", r.Step)
	case r.Percent != shareOf(r.Step):
		return fmt.Errorf("percent: %d does not belong to step %s", r.Percent, r.Step)
	case r.To.IsZero():
		return errors.New("to: a revision is missing")
	case !recordBase.MatchString(r.Commit):
		return fmt.Errorf("commit: %q is no commit", r.Commit)
	case !recordBase.MatchString(r.Base):
		return fmt.Errorf("base: %q is no commit", r.Base)
	case r.Pull < 0:
		return fmt.Errorf("pull-request: %d is no number of one", r.Pull)
	case len(r.Past) > pastLimit:
		return fmt.Errorf("past: there are %d entries, and may be %d", len(r.Past), pastLimit)
	}
	return nil
}
