# SPDX-License-Identifier: Apache-2.0
"""Imports rows into a database and commits so many at a time: import.py DATABASE ROWS BATCH (for docs/images/waits)."""
import sqlite3, sys

def insert(db, row):
    db.execute('insert into sales values (?, ?)', row)

def load(db, rows, batch):
    for number in range(rows):
        insert(db, (number, number % 7))
        if number % batch == batch - 1:
            db.commit()
    db.commit()

db = sqlite3.connect(sys.argv[1])
db.execute('create table if not exists sales (number integer, shop integer)')
load(db, int(sys.argv[2]), int(sys.argv[3]))
