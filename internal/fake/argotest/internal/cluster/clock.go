package cluster

import (
	"context"
	"time"
)

// Clock is a time that runs faster than the wall's, so that a test need not wait for a backoff of
// minutes. The zero value is the wall clock.
type Clock struct {
	start time.Time
	speed float64
}

// NewClock returns a clock that starts now and runs speed times as fast as the wall clock; a speed
// of zero is the wall clock's.
func NewClock(speed float64) Clock {
	if speed <= 0 {
		speed = 1
	}
	return Clock{start: time.Now(), speed: speed}
}

// Now returns the clock's time.
func (c Clock) Now() time.Time {
	if c.speed == 0 {
		return time.Now()
	}
	return c.start.Add(time.Duration(float64(time.Since(c.start)) * c.speed))
}

// real returns how long d of this clock takes on the wall clock.
func (c Clock) real(d time.Duration) time.Duration {
	if c.speed == 0 {
		return d
	}
	return time.Duration(float64(d) / c.speed)
}

// After is time.After on this clock.
func (c Clock) After(d time.Duration) <-chan time.Time {
	return time.After(c.real(d))
}

// Sleep waits for d of this clock or for ctx's end, whose error it returns.
func (c Clock) Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(c.real(d))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
