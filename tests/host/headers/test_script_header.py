"""A script's header: its description, its usage, and its text for help pages."""

from __future__ import annotations

import pytest

from host.headers.dialects import Header
from host.headers.prose import Prose
from host.headers.prose_rules import first_sentence


def _prose(text: str, name: str = "db") -> Prose:
    return Prose(Header(name, text.splitlines()).rows, name)


DESCRIPTIONS = {
    "one sentence over two lines": ("# Copy it\n# soon. It is slow.\n", "Copy it soon."),
    "an abbreviation": ("# Copy tables, e.g. Orders. More.\n", "Copy tables, e.g. Orders."),
    "a version": ("# Needs 1.2 or newer\n", "Needs 1.2 or newer"),
    "a heading": ("# Required parameters:\n# @raycast.mode silent\n\n# Copy it.\n", "Copy it."),
    "a heading alone": ("# Required parameters:\n", ""),
    "a word in capitals": ("# DESCRIPTION\n# copy it\n", "copy it"),
    "an introduction of a list": ("# Do the following\n# things:\n#\n# Copy it.\n", "Copy it."),
    "its own name": ("# db\n#\n# Copy it.\n", "Copy it."),
    "its own name with the extension": ("# db.sh\n# Copy it.\n", "Copy it."),
    "its name with a folder": (
        "# script/db: Copy all tables that the app\n#            needs to run.\n",
        "Copy all tables that the app needs to run."),
    "its name with arguments": ("# db [-r] TABLE - Copy it.\n", "Copy it."),
    "a note of two lines": ("# Note: it is new here,\n# so take care\n#\n# Copy it.\n", "Copy it."),
    "another file's name": ("# old-db.sh\n# Copy it.\n", "Copy it."),
    "indented as a whole": ("#\tdb\n#\tcopy it\n", "copy it"),
    "its name and a dash": ("# db - Copy it.\n", "Copy it."),
    "its name and a colon": ("## db: copy it\n", "copy it"),
    "an address": ("# https://example.org/x\n# Copy it.\n", "Copy it."),
    "an origin": ("# Based on https://example.org/x\n#\n# Copy it.\n", "Copy it."),
    "an address in the text": ("# Upload it to https://example.org/x\n", "Upload it to https://example.org/x"),
    "an author": ("# Author: Me\n# TODO make it fast\n# Copy it.\n", "Copy it."),
    "an example": ("#     db x\n#\n# Copy it.\n", "Copy it."),
    "the file's first comment": ("\n# Copy it.\nx=$(y)\n", "Copy it."),
    "code's own comment": ("# Copy it.\n\n# Find it\nx=$(y)\n", "Copy it."),
    "an empty line below": ("\n# Copy it.\n\nx=$(y)\n", "Copy it."),
    "the title of a function": ("\n#\n# Print it\n#\n\nabort() {\n", ""),
    "words that begin other lines": ("# Todo lists, credits\n", "Todo lists, credits"),
    "framed above a function": ("\n#\n# db.sh\n#\n# Copy it.\n#\n\nabort() {\n", "Copy it."),
    "its suite": ("# This tool is part of Acme: https://example.org/\n# See LICENSE.\n\nX=1\n", ""),
    "the place of a licence": (
        "# Copyright (C) A. Author\n#\n# It is licensed as COPYING says,\n# which is here.\n",
        ""),
    "two sentences of which one introduces": (
        "# Copy it. It does:\n# - a\n# - b\n\n# The names are:\n", "Copy it."),
    "an introduction and no sentence": ("#\n# Copy all of these:\n\nx() {\n", "Copy all of these"),
    "an abstract": ("# vim:ft=sh:\n# abstract: copy it\n", "copy it"),
    "a managed file": ("# THIS FILE IS MANAGED BY CHEF\n# Copy it.\n", "Copy it."),
    "a reason for set": ("\n# We want to see each error\nset -e\n\n# Copy it.\n", "Copy it."),
    "a function's description": ("\nX=1\n# Description: Print it\nprint() {\n", ""),
    "below set": ("\nset -e\n# Copy it.\n\nx=$(y)\n", "Copy it."),
    "code's own comment below set": ("set -e\n\n# Find it\nx=$(y)\n", ""),
    "between licence and set": ("# Copyright 2020 A\n\n# Copy it.\nset -e\nx\n", "Copy it."),
    "framed": ("######\n## Copy it.   ##\n######\n", "Copy it."),
    "a licence with a year": ("# db Copyright 2020 A. Author\n# Free.\n\n# Copy it.\n", "Copy it."),
    "a licence of paragraphs": (
        "# Copyright 2020 A\n#\n# This program is free software; you can redistribute it\n#\n"
        "# This program is distributed in the hope that it will be\n# useful.\n#\n# Copy it.\n",
        "Copy it."),
    "an author with blanks": ("# Author   : A. B.\n# Created On : Mon\n# Copy it.\n", "Copy it."),
    "a warning": ("# This file was generated, do not edit!\n#\n# Copy it.\n", "Copy it."),
    "in dashes": ("# --- Copy it.      ---##\n", "Copy it."),
    "a lone point": ("# Copy it . Slow\n", "Copy it . Slow"),
    "copyright in the text": ("# Check the copyright lines\n", "Check the copyright lines"),
    "directly below the usage": (
        "# Usage: db x [-n]\n#        db y\n# or db z\n# Copy it.\n",
        "Copy it.",
    ),
    "after the usage": ("# Usage: db x\n#        db y\n#\n# Copy it.\n", "Copy it."),
    "after a usage with text": (
        "# Usage:\n#  ./up.sh m\n# or ./up.sh\n# Pass it.\n#\n# Copy it.\n", "Copy it."),
    "examples": ("# Examples:\n# % DRY=1 ./x.sh\n# Slow.\n", ""),
    "a command below": ("# Run all tests\n# ./test.sh -v\n", "Run all tests"),
    "a new sentence below": ("# Search the bundle\n#   Requires bundler.\n", "Search the bundle"),
    "a line that goes on": ("# Search\n#   the bundle\n", "Search the bundle"),
    "a line that has ended": ("# Search it;\n# slow\n", "Search it;"),
    "commands": ("# $ x\n# % x\n# > x\n# sh -c x\n# e.g. x\n# or ./x\n# Copy it.\n", "Copy it."),
    "an origin without a scheme": ("# Based on github.com/a/b\n\n# Copy it.\n", "Copy it."),
    "a label with two colons": ("# :author: A. B.\n# Copy it.\n", "Copy it."),
    "a product above a licence": (
        "# Shop: all you need\n# (c) 2020 A. Author\n#\n# Copy it.\n", "Copy it."),
    "its name above a licence": ("# db: Copy it.\n# (c) 2020 A. Author\n", "Copy it."),
    "a licence in one word": ("# GPL v3 or later\n#\n# Copy it.\n", "Copy it."),
    "people": ("# By A. Author\n# Made by Ann Author\n# Ann <a@b.org>\n# Copy it.\n", "Copy it."),
    "a note with a label": ("# NB: it is new.\n# Take care.\n#\n# Copy it.\n", "Copy it."),
    "a request": ("# If you're stuck, ask us.\n# See README.md\n# Copy it.\n", "Copy it."),
    "a condition": ("# If the host is off, copy it.\n", "If the host is off, copy it."),
    "a generated part": (
        "# This part was generated by a tool. The source is in the other file,\n"
        "# at the end.\n#\n# Copy it.\n", "Copy it."),
    "a variable": ("# DB_HOST is set by up.sh,\n# and used here\n#\n# Copy it.\n", "Copy it."),
    "one word": ("# Database\n#\n# Copy it.\n", "Copy it."),
    "an aside": ("# Copy it\n# (this takes an hour)\n", "Copy it"),
    "a name after a word that goes on": ("# Copy it to\n# Rome\n", "Copy it to Rome"),
    "a name below a full line": ("# Copy it all\n# MySQL rows\n", "Copy it all MySQL rows"),
    "a label of the description": ("# Purpose: Copy it\n# soon.\n", "Copy it soon."),
    "sentences in lower case": (
        "# copy tables\n# needs a network for each of the tables that it copies\n", "copy tables"),
    "a list with an introduction": (
        "# It does two things here:\n#   copy it\n#\n#   rest\n# Copy it.\n", "Copy it."),
    "another example": ("# Example usage: db x\n# is fast\n#\n# Copy it.\n", "Copy it."),
    "a constant's comment": ("\n# The host\nHOST=a\n", ""),
    "a function's comment": ("\n# Print it.\nprint() {\n", ""),
    "the first of two steps": ("\n# Copy it.\ncp a b\n\n# Drop it.\nrm a\n", ""),
    "below a coding": ("# -*- coding: utf-8 -*-\n\n# Copy it.\nimport x\n", "Copy it."),
    "between licence and code": ("# Copyright 2020 A\n\n# Copy it.\nx\n", "Copy it."),
    "an address with a label": ("# Web site : https://example.org/x\n# Copy it.\n", "Copy it."),
    "an introduction alone": ("# Print tables that\n# match:\n#   x\n", "Print tables that match"),
    "a requirement alone": ("# This script requires two words:\n#   a b\n", ""),
    "a title in capitals": ("# DB COPY\n# =======\n# Copy it.\n", "Copy it."),
    "a number": ("# 12\n# copy it\n", "copy it"),
    "columns": ("# HOST    the host\n#\n# Copy it.\n", "Copy it."),
    "another file's name and a dash": ("# old.sh --- Copy it.\n", "Copy it."),
    "its name in a column": ("# db     Copy it.\n", "Copy it."),
    "its name with a version": ("# DB v2 - Copy it.\n# Copyright 2020 A\n", "Copy it."),
    "its name and its author": ("# db by ann\n# Copy it.\n", "Copy it."),
    "two sentences in lower case": ("# copy it, eg. now. then stop.\n", "copy it, eg. now."),
    "the file above two steps": (
        "\n# This script copies it.\ncp a b\n\n# Drop it.\nrm a\n", "This script copies it."),
    "an abbreviation at the end": ("# Copy it (e.g.\n# Orders).\n", "Copy it (e.g. Orders)."),
    "stars and dashes": ("# Copy tables\n# like db-*-old\n", "Copy tables like db-*-old"),
    "a part of a project": ("# This source file is part of Shop.\n\n# Copy it.\n", "Copy it."),
    "labels in capitals": ("# DESC: copy it\n# DEPEND: tools\n", "copy it"),
    "below an address": ("# https://example.org/x\n# info: copy it\n", "copy it"),
    "an ellipsis": ("# Copy it... Or not\n", "Copy it... Or not"),
    "below a condition for tracing": ("[ $TRACE ] && set -x\n\n# Copy it.\n\nx\n", "Copy it."),
    "the comment of set": ("\n# Exit on errors\nset -e\n", ""),
    "code that is no longer used": ("# exec db -x\n#-y 1 \\\n# Copy it.\n", "Copy it."),
    "GitHub's marks": ("#/ Copy it.\n#/ Slow.\n", "Copy it."),
}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "description"), DESCRIPTIONS.values(), ids=DESCRIPTIONS
)
def test_the_description_is_the_first_sentence_of_prose(
    text: str, description: str
) -> None:
    assert _prose(f"#!/bin/sh\n{text}", "db.sh").description == description


APACHE = """#!/bin/sh
# Copyright 2020 The Authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.

set -e
"""
MIT = """#!/bin/sh
# MIT License
#
# Copyright (c) 2020 A. Author
#
# Permission is hereby granted, free of charge, to any person obtaining a copy
# of this software, subject to the following conditions:
#
# The above copyright notice and this permission notice shall be included in all
# copies or substantial portions of the Software.
#
# THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND.
# See <https://opensource.org/license/mit>.
"""


@pytest.mark.parametrize("text", [APACHE, MIT], ids=["Apache", "MIT"])
def test_a_licence_is_not_shown(text: str) -> None:
    prose = _prose(text)
    assert (prose.description, prose.paragraphs("")) == ("", [])


USAGES = {
    "several lines": ("# Usage: db x\n#        db y\n", ["db x", "db y"]),
    "below its heading": (
        "# Usage:\n#\n#   db x\n#     more\n\n#   no\n",
        ["db x", "  more"],
    ),
    "not indented": ("# usage:\n# db x\n# db y\n#\n# Copy it.\n", ["db x", "db y"]),
    "text follows": ("# Usage: db x\n# Copy it.\n", ["db x"]),
    "two": ("# Usage: db x\n#\n# Usage: db y\n", ["db x", "db y"]),
    "none": ("# Usage:\n", []),
}


@pytest.mark.parametrize(("text", "usage"), USAGES.values(), ids=USAGES)
def test_the_usage(text: str, usage: list[str]) -> None:
    assert Header("db", f"#!/bin/sh\n{text}".splitlines()).usage == usage


def test_the_text_for_help_pages() -> None:
    text = """#!/bin/sh
# Copyright 2020 A. Author
#
# db
#
# Copy a table
# to staging. It is slow.
#
# Required parameters:
# @raycast.mode silent
# Optional parameters:
# @raycast.icon x
#
# Examples:
#   db x
#     more
# shellcheck disable=SC1000
"""
    prose = _prose(text)
    examples = ["Examples:", "  db x", "    more"]
    assert prose.paragraphs(prose.description) == [["It is slow."], examples]
    copied = ["Copy a table", "to staging. It is slow."]
    assert prose.paragraphs("Another one") == [copied, examples]


def test_the_text_below_an_introduction_alone() -> None:
    prose = _prose("#!/bin/sh\n# Print tables that\n# match:\n#   x\n")
    assert prose.paragraphs(prose.description) == [["  x"]]


def test_its_name_in_two_words_before_a_dash() -> None:
    assert (
        _prose("#!/bin/sh\n# DB Copy - Copy it.\n", "db-copy").description == "Copy it."
    )
    assert _prose("#!/bin/sh\n# DB copy\n", "db-copy").description == "DB copy"


def test_a_sentence_does_not_end_at_an_initial() -> None:
    assert first_sentence("By J. Smith. Slow") == "By J. Smith."
