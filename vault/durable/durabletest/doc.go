// Package durabletest holds the fault injection and the power-loss simulation
// for code that writes through package durable. It is imported by tests only.
//
// Everything works through [durable.Hook]. A step is counted from 0, and n is
// always the number of steps that happen before the fault: a sweep is
//
//	var count durabletest.Counter
//	run(count.Hook)
//	for n := range count.Steps() {
//		run(durabletest.FailAt(n, syscall.ENOSPC, nil)) // or KillAt, in a child
//	}
//
// and a power-loss sweep, which needs one run only, is
//
//	disk, err := durabletest.NewDisk(dir)
//	run(disk.Wrap(nil))
//	for image := range disk.Images(rng, durabletest.Modes()...) {
//		err := image.Write(map[string]string{dir: other})
//		// open what is in other: it must be old or new, and new if
//		// image.N is past the step after which the writer reported success
//	}
//
// A simulation is only as good as its failure: for every fsync, a test calls
// [Disk.Sabotage] and demands that some image is then found damaged.
package durabletest
