# Tests of `demo words`. The package cli-host-test runs them: cli test demo
load "$CLI_TEST_LIB"

@test "the most frequent words are first" {
  run "$CLI_TEST_PROGRAM" demo words 2 <<<'the cat and the dog and the bird'
  assert_success
  assert_output $'3 the\n2 and'
}

@test "--longer-than leaves out short words" {
  run "$CLI_TEST_PROGRAM" demo words --longer-than 3 <<<'the cat and the dog saw a bird'
  assert_output '1 bird'
}

@test "a count must be a number" {
  run "$CLI_TEST_PROGRAM" demo words many <<<'one'
  assert_status 2
  assert_output --partial many
}
