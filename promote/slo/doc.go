// Package slo judges from counts of requests whether a candidate keeps an
// objective such as "99 % of the requests succeed". It is pure: it asks nobody
// for the counts and knows no time.
//
// # The test
//
// A candidate is looked at many times, and is to be taken out as soon as the
// counts say so. A test that is made for one look, such as a ratio per minute,
// sends good candidates back when it is repeated. So the evidence is an
// e-process: a bet against "the limit is kept" that starts with 1 and that,
// while the limit is kept, does not grow on average, whatever is bet. By Ville's
// inequality it then ever reaches e with a chance of 1/e at most, at all looks
// together, however many there are and whenever one stops.
//
// The bet against a limit l on the share of bad requests is that the share is
// some p > l. With k bad ones of n it stands at (p/l)^k ((1-p)/(1-l))^(n-k). As
// p is not known, the stake is spread over 200 values, evenly in log p
// (Robbins' method of mixtures).
//
// Requests fail together: one trouble of a second takes all that come in it. Where it
// is known what came in each second, the bet is on its share x of bad requests, and
// multiplies with x p/l + (1-x)(1-p)/(1-l): as if each request had an equal part of the
// stake. That is fair whatever depends on what within the second, as it asks no more than
// that the share expected of the next second is within the limit (Waudby-Smith and
// Ramdas). Of a second with one request it is the bet above.
//
// The bet against the old revision is that the candidate's odds of a bad
// request are t > 1 times the old one's. If both were alike, each of their bad
// requests would be the candidate's with the chance r, its share of the
// requests, so with k of its own and m of the old one's the bet stands at
// t^k / (1+(t-1)r)^(k+m). This is multiplied over periods with shares of
// their own: an outage that hits both at 50 % is then not held against a
// candidate that had less before. Bad requests are drawn from the requests
// without being put back, which by Hoeffding (1963, theorem 4) can only make
// such a bet smaller on average.
//
// A trouble that hits both takes each request of both alike, and the draw is fair. One
// that hits a single revision is none, so whether the candidate is worse within the limit is
// asked of seconds, where these are known: with the share y of the bad requests that are
// its own the bet multiplies with (1+(t-1)y) / (1+(t-1)r).
//
// At a look within a period r is the share by then. It is not fixed beforehand,
// so Ville's inequality does not cover the looks between the ends of periods.
// TestFalseComparisonExactly computes their chance of a false alarm for requests
// in several orders: it is below a fifth of what the inequality permits.
//
// Where the two revisions are not counted at one moment, an outage of both is for
// a while one of the candidate alone. Then only bounds of the true counts of both
// by some moment are known, and the bet stands at what the worst of them for it
// give: the fewest of the candidate's bad requests, the most of the old one's, and
// the largest share r. It grows in the first and falls in the other two, so it is
// at most what the true counts would give.
//
// The stake is also spread over the periods as beginnings of the trouble, the
// j-th with 1/(j(j+1)): what was good at 10 % does not outweigh for long what
// fails at 100 %. The parts of the stake that are not yet bet stay 1.
//
// # What it promises
//
// The counts go on over all steps of a promotion, so one bar holds for the whole
// of it. A restart in each step would have to share the chance of a false alarm
// among the steps, and forget what it has seen. A candidate that keeps the limits
// and is not worse than the old revision is called broken in less than 1 of
// 1,000 promotions: the bar is 1,000 times the number of bets, at most three
// (failures against the limit, failures against the old revision, slow requests
// against the limit).
//
// The other way round, two bad requests and more are kept only if a bet against
// twice the limit has won 20 times its stake, in all steps together. So one that
// always fails twice as often as the limit permits is kept in 1 of 20 promotions
// at most, and in those in which at most one of its requests was bad: with few
// requests these are many, as 50 of which 2 % fail have no failure, or a single
// one, in 3 of 4 cases.
//
// It takes seconds for independent of each other; where they are not known, as of what a
// Prometheus has scraped, requests. Failures that come in clusters of several seconds, or of
// any length where only requests are known, break the limit more often than that by chance:
// the tables of docs/gates.md show how often. An outage of the way between
// the one who asks and the candidate is not told from one of the candidate,
// unless the old revision is asked on the same way.
//
// # Sources
//
// Ville, Étude critique de la notion de collectif (1939). Robbins, Statistical
// methods related to the law of the iterated logarithm (1970). Wald, Sequential
// tests of statistical hypotheses (1945). Waudby-Smith and
// Ramdas, Estimating means of bounded random variables by betting (2024). Ramdas,
// Grünwald, Vovk and Shafer, Game-theoretic statistics and safe anytime-valid
// inference (2023). Spreading the stake over beginnings is as in Shin, Ramdas and
// Rinaldo, E-detectors (2024), with weights that sum to 1. Lindon, Sanden and
// Shirikian, Rapid regression detection in software deployments through
// sequential testing (2022), do the like at Netflix.
package slo
