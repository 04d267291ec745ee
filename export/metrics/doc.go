// Package metrics counts the events of a run for Prometheus.
//
// A [Metrics] is a view of the stream of events: [Metrics.Event] takes each of them, and
// [Metrics.Handler] answers with the sums, in Prometheus' text format or in OpenMetrics. One endpoint
// has the numbers of all ranks, because rank 0 hears of each of them.
//
// Counters count work that was done. They never fall: steps that are repeated after a resume or a lost
// generation count again. They begin at 0 in each process that has them, as Prometheus expects.
//
// Of more than 64 ranks the stream has those that the others wait for most, so the counters of a rank
// grow by those intervals alone.
package metrics
