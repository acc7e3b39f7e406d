package settings

// curatorKeys are the person's alone: a vault that was cloned must not say what goes to the archive.
func curatorKeys() []Key {
	keys := []Key{
		{Name: Curator, Type: boolean(), Default: "true",
			Meaning: "whether `stet watch` and `stet worker run` look for skills that nobody uses; `stet curate` by " +
				"hand always does"},
		{Name: CuratorEvery, Type: number(1), Unit: "hours", Default: "24", Meaning: "how long between two looks"},
		{Name: CuratorIdle, Type: number(0), Unit: "hours", Default: "2",
			Meaning: "how long nobody must have said anything in any conversation before one"},
		{Name: CuratorStale, Type: number(1), Unit: "days", Default: "30",
			Meaning: "after how long without use a skill of the curator's is marked stale"},
		{Name: CuratorArchive, Type: number(1), Unit: "days", Default: "90",
			Meaning: "after how long without use it goes to the archive"},
		{Name: CuratorFloor, Type: share(), Unit: "a share", Default: "0.9",
			Meaning: "which part of the lines of a skill has to stand in the one that absorbs it; of its numbers, " +
				"dates, paths, addresses and code all have to"},
		{Name: CuratorLoss, Type: share(), Unit: "a share", Default: "0.05",
			Meaning: "which part of the lines of all skills of the curator's one run may take into the archive " +
				"alone; the same part, headings aside, of those of the skills that go into one umbrella"},
		{Name: CuratorMerge, Type: number(1), Unit: "hours", Default: "168",
			Meaning: "how long between two runs in which `models.curator` builds umbrella skills; without that model " +
				"there are none"},
		{Name: CuratorNotes, Type: boolean(), Default: "false",
			Meaning: "whether such a run merges memories of agents that say the same as well, as `stet curate " +
				"--memories` does"},
		{Name: CuratorTokens, Type: number(1), Unit: "tokens", Default: "200000",
			Meaning: "how many tokens, in and out together, one such run may use"},
		{Name: CuratorMinutes, Type: number(1), Unit: "minutes", Default: "15", Meaning: "how long one may take"},
		{Name: CuratorUSD, Type: amount(), Unit: "dollars", Default: "1",
			Meaning: "what one may cost, within `models.daily_limit_usd`"},
	}
	for i := range keys {
		keys[i].Agents = Nothing
	}
	return keys
}
