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
// The model promises what git and SQLite rely on too and ext4, XFS and btrfs
// give, and no more:
//
//   - fsync of a file keeps its bytes, whatever name it has or gets; no name.
//   - fsync of a folder keeps the names in it; no bytes, and not its own name.
//   - A rename between two folders is durable at its new name when the target
//     folder is fsynced; the old name may then be beside it until the source
//     folder is fsynced as well. Fsync of the source folder alone keeps nothing:
//     a name is never taken away before it stands elsewhere.
//   - An exchange is durable in each of the two folders by itself: after the fsync
//     of one of them, one file may have both names and the other none.
//   - No name shows a change of which a predecessor on that name is lost.
//
// A simulation is only as good as its failure: for every fsync, a test calls
// [Disk.Sabotage] and demands that some image is then found damaged.
package durabletest
