// Package compare judges from answers to the same requests whether a candidate
// behaves as the old revision does. It is pure: it asks nobody and knows no time.
//
// # The test
//
// A request is sent to the old revision, to the candidate, and to the old
// revision again: a round. A clock or a counter that moves on while that lasts
// cannot make the answer in the middle the only one that differs. What differs
// between two answers of the old revision is noise, and says nothing of the
// candidate.
//
// If the candidate behaves as the old revision, then the three answers of a
// round could as well have come in any other order. So where two of them are
// equal and the third one differs, that third one is the candidate's with a
// chance of 1/3, whatever the noise is. With k of m such rounds being the
// candidate's, the chance of so many is that of k or more in a binomial
// distribution with m and 1/3. It is exact, and there is nothing to tune. This
// is opendiffy's idea, two instances of the old version to learn the noise from
// (https://github.com/opendiffy/diffy), as a permutation test.
//
// That holds where the rounds are independent. A value that a pod keeps, such as
// its zone, is not noise of that kind: the candidate has one pod, and the old
// revision many. So a value of a field that the old revision gave too, in any
// round, does not count for the candidate's own.
//
// For latency the question is whether the candidate takes longer than a factor
// times the slower one of the two answers around it. If it takes up to that factor
// longer than the old revision in general, the chance of that is 1/3 at most in
// each round.
//
// Each thing that is looked at, such as a status or a field of the JSON, is one
// more chance for a false alarm. A candidate fails where a chance, times the
// number of things looked at, is below 1 in 1,000 (Bonferroni). Things that
// could not fail however their rounds had come out, since m is too small, do not
// count; as m does not depend on which answer is the candidate's, this keeps the
// promise (Tarone). So fields with names of their own in each answer, and those
// that never change, weaken nothing.
//
// # What it promises
//
// A candidate that behaves as the old revision fails in less than 1 of 1,000
// promotions, all paths and fields together. One that is passed has had rounds
// enough that it would have failed, had it differed in all of them. What differs
// in few requests, such as one failure in ten, is not found by it but by package
// slo.
//
// # Sources
//
// Tarone, A modified Bonferroni method for discrete data (1990).
package compare
