package main

import (
	"sync"
	"time"
)

// served remembers what requests a revision has had, as far as its behaviour depends on that.
type served struct {
	mu         sync.Mutex
	byRevision map[string]*history
}

// history is one revision's.
type history struct {
	requests int
	second   time.Time // the one that the last request came in
	within   int       // requests in that second
}

// next counts a request at a time. It tells how many came before it, and how many within its second, it included.
func (s *served) next(revision string, at time.Time) (before, within int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byRevision == nil {
		s.byRevision = map[string]*history{}
	}
	h := s.byRevision[revision]
	if h == nil {
		h = &history{}
		s.byRevision[revision] = h
	}
	if second := at.Truncate(time.Second); second != h.second {
		h.second, h.within = second, 0
	}
	h.requests++
	h.within++
	return h.requests - 1, h.within
}
