// Package cost predicts how long an all-reduce of gradients takes, and chooses
// a codec by it. It is arithmetic only: what is measured goes in, so ranks that
// agree on the measurements agree on the choice.
//
// # Model
//
// A bucket of N bytes of float32 is summed over h hosts, on each of which l
// ranks share memory and take one shard of N/l bytes each (flat: h ranks that
// take all of it, l = 1). With B bytes/s that a sender gets while all send, L
// the latency of a hop, s the bytes/s that a core passes through sockets, e and d
// the rates of encoding and of decoding with adding, a that of adding (all in
// bytes of float32 per second, on one core), r the ratio of a codec, and m the
// bytes that a rank sends, 2(h-1)/h · N/(l·r):
//
//	wire = (m + headers) / B
//	cpu  = m/s + N/l/e + 2(h-1)/h · N/l/d + N/M     none: m/s + (h-1)/h · N/l/a + N/M
//	busy = max(wire, cpu) + L                       without a core to spare wire + cpu + L
//
// That is how long the wire and the core have to do. But a step of the ring sends
// what came in the step before, so nothing of it can begin until the first
// segment of that is there and summed. With k segments to a chunk:
//
//	way  = (wire + cpu)/k + 2(h-1)·L
//	time = max(busy, way)
//
// One segment to a chunk (k = 1) overlaps with nothing: the wire rests while the
// core works, but for what passes the socket while more is coming: of m/s only the
// last 64 KiB of a segment count in way. A shaper makes up for such rests: it lets a
// burst pass of what it could have sent meanwhile, which is subtracted from way, step
// by step, as long as a step still takes cpu/k + L.
//
// N/M is there where the ranks of a host sum at M bytes/s in shared memory: that
// goes on segment by segment too. On one host it is all there is. [Algorithm] has
// the same for those that sum in few rounds: of each round the wire, the core and
// the latency come one after the other, and N/M before.
//
// Where more ranks than cores take turns, neither sending nor coding is steady:
// what should go on at the same time does not always, and in the ring a rank that
// is late makes all ranks behind it late. For max(x, y) of sending and the rest the
// model then has ∜(x⁴ + y⁴) in busy, and in a round of the other algorithms, which
// is a fit: nearly the longer of the two if they differ by twice, and a fifth more if
// they are equal.
//
// The buckets of a step go one after the other, each from when backward has
// filled it. What of that lies behind the end of backward is exposed: training
// waits for it. Without a spare core the cpu part hides behind nothing, since
// it takes the time from backward.
//
// # Choice
//
// [Choose] takes a codec only where it pays: most reports of compression that
// gained nothing are of steps whose exchange was short or hidden (Agarwal et
// al., "On the utility of gradient compression in distributed training
// systems", 2022).
//
// # Limits
//
// [Choose] takes all buckets to be summed by ring. The model knows no loss on the
// wire, and takes rates for constant over sizes.
package cost
