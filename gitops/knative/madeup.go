package knative

import (
	"crypto/rand"
	"fmt"
	"regexp"
	"strings"
)

// The letters and digits of what is made up. Words with these letters alone are in no language.
const (
	madeUpLetters = "bcdfghjkmnpqrstvwxz"
	madeUpDigits  = "123456789"
)

// otherPart is a word of so many letters that nobody can know before.
func otherPart(length int) string { return madeUp(madeUpLetters, length) }

// otherHash is what could be the hash of an image.
func otherHash() string {
	var made [32]byte
	_, _ = rand.Read(made[:]) // it never fails
	return fmt.Sprintf("%x", made)
}

func madeUp(of string, length int) string {
	made := make([]byte, length)
	_, _ = rand.Read(made) // it never fails
	for i := range made {
		made[i] = of[int(made[i])%len(of)]
	}
	return string(made)
}

// part is what a replacement may copy of a tag alone, as there are delimiters between. A delimiter may also have the letters that
// it begins with, as ":v" has.
var part = regexp.MustCompile(`([a-zA-Z]*)([a-zA-Z0-9]*)`)

// longestTag is how long a tag may be.
const longestTag = 128

// A madePart is a part of a tag that is made up, as a whole and without the letters that it has in common with what it stands for.
type madePart struct{ whole, made, standsFor string }

// otherTag is a tag of the same form that nobody can know before, with its parts.
func otherTag(tag string) (other string, parts []madePart) {
	count, letters, rest := 0, 0, 0
	for _, text := range part.FindAllString(tag, -1) {
		if text == "" {
			continue
		}
		count++
		letters += len(part.FindStringSubmatch(text)[1])
		rest += len(text)
	}
	if count == 0 {
		return tag, nil
	}
	const most, least = 12, 6
	room := longestTag - (len(tag) - rest) // what is no delimiter
	keeps := (room-letters)/count >= least
	length := min(most, room/count)
	if keeps {
		length = min(most, (room-letters)/count)
	}
	other = part.ReplaceAllStringFunc(tag, func(text string) string {
		if text == "" {
			return ""
		}
		begins, has := "", text
		if keeps {
			two := part.FindStringSubmatch(text)
			begins, has = two[1], two[2]
		}
		of := madeUpLetters
		if strings.Trim(text, "0123456789") == "" {
			of = madeUpDigits // YAML may read it as a number
		}
		made := madeUp(of, length)
		parts = append(parts, madePart{begins + made, made, has})
		return begins + made
	})
	return other, parts
}
