// Package cost predicts the time of an all-reduce of gradients, and chooses a codec by the
// prediction. It is arithmetic only. Its inputs are measurements, so ranks that agree on the
// measurements agree on the choice.
//
// # Model
//
// A bucket of N bytes of float32 is summed over h hosts. On each host l ranks share memory and
// take one shard of N/l bytes each. (Flat: h ranks that take all of it, l = 1.) The symbols
// are, with rates in bytes of float32 per second on one core:
//
//   - B: bytes/s of a sender while all send; L: latency of a hop;
//   - s: bytes/s that a core passes through sockets, and through TLS if links use it;
//   - e, d: rates of encoding, and of decoding with adding; a: rate of adding;
//   - r: ratio of a codec; m: bytes that a rank sends, 2(h-1)/h · N/(l·r).
//
// The wire and the core are busy for
//
//	wire = (m + headers) / B
//	cpu  = m/s + N/l/e + 2(h-1)/h · N/l/d + N/M     none: m/s + (h-1)/h · N/l/a + N/M
//	busy = max(wire, cpu) + L                       without a spare core wire + cpu + L
//
// A step of the ring sends the sum of the step before. It cannot begin until the first segment
// of that sum exists. With k segments in a chunk:
//
//	way  = (wire + cpu)/k + 2(h-1)·L
//	time = max(busy, way)
//
// With one segment in a chunk (k = 1) nothing overlaps: the wire rests while the core works.
// One exception is the time in sockets, most of which overlaps with the arrival of more bytes:
// of m/s only the last 64 KiB of a segment count in way.
//
// N/M is the sum in shared memory, where the ranks of a host sum at M bytes/s. It also proceeds
// segment by segment. On one host it is the whole time. [Algorithm] has the model of the
// algorithms with few rounds: the wire, the core and the latency of each round come one after
// the other, after N/M.
//
// The buckets of a step are sent one after the other, each once backward has filled it. The
// part after the end of backward is exposed: training waits for it. Without a spare core the
// CPU part hides behind nothing, since it takes the time from backward.
//
// # Choice
//
// [Choose] takes a codec only where it pays. Most reports of compression without gain are of
// steps whose exchange was short or hidden (Agarwal et al., "On the utility of gradient
// compression in distributed training systems", 2022).
//
// # Limits
//
// [Choose] assumes that all buckets are summed by ring. The model has no loss on the wire and
// assumes that rates do not depend on sizes.
package cost
