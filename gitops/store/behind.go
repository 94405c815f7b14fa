package store

import (
	"bytes"
	"context"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// Behind brings in a commit and those behind it, as many as depth has in each line of
// history, without what is in them, and shows their messages, the newest first as far as the
// lines tell. A server that gives out no parts is not asked.
func (s *Store) Behind(ctx context.Context, tip plumbing.Hash, depth int, show func(commit plumbing.Hash, message []byte)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.local != nil || !s.partial() {
		return nil
	}
	if q := single(tip); s.behind != tip {
		q.Depth = depth
		if err := s.fetch(ctx, q); err != nil {
			return err
		}
		s.behind = tip
	}
	seen := map[plumbing.Hash]bool{tip: true}
	for left := []plumbing.Hash{tip}; len(left) > 0; left = left[1:] {
		if !s.has(left[0]) {
			continue // it is below the depth
		}
		raw, err := s.content(plumbing.CommitObject, left[0])
		if err != nil {
			return err
		}
		header, message, _ := bytes.Cut(raw, []byte("\n\n"))
		show(left[0], message)
		for _, parent := range parentsIn(header) {
			if !seen[parent] {
				seen[parent] = true
				left = append(left, parent)
			}
		}
	}
	return nil
}

// parentsIn are the parents that the lines above a commit's message name.
func parentsIn(header []byte) (parents []plumbing.Hash) {
	for line := range bytes.Lines(header) {
		if name, is := strings.CutPrefix(strings.TrimSpace(string(line)), "parent "); is {
			parents = append(parents, plumbing.NewHash(name))
		}
	}
	return parents
}
