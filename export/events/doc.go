// Package events writes TensorBoard's event files, and reads their scalars back.
//
// An event file is an uncompressed TFRecord file. Each record is one Event:
//
//	record 0   Event{wall_time, file_version "brain.Event:2", source_metadata}
//	record 1   Event{wall_time, step s, session_log START}    steps from s on follow
//	record 2…  Event{wall_time, step, summary{value{tag, simple_value}…}}
//
// Package tfpb has the messages. TensorBoard reads any file with "tfevents" in its name.
// The files of one folder are one run, read in the order of their names:
//
//	events.out.tfevents.1763900000.host-a.4711.0
//	                    seconds    host   process
//
// # One curve
//
// Each process writes its own file. A process that resumes a run repeats steps that an
// earlier process wrote before it ended. TensorBoard's two loaders still show one curve.
// One drops all points from the step of START on. The other drops, for each new point,
// the points of its tag with the same or a later step. The step at which a run resumes
// would appear twice if the earlier run ended with it. Therefore [Create] reads the
// existing files, and a [Writer] omits a step that its tag already has.
//
// # Failures
//
// [Writer.Add] never waits for the disk. The Writer combines events in quick succession
// into at most five writes a second, so a killed process loses at most the events of 200
// ms. The Writer keeps events after a failed write, up to a bound, and writes them with
// the next event. [Writer.Fault] reports the failure. At any time the file holds whole
// records, except for the last one.
package events
