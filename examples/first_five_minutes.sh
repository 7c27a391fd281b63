#!/usr/bin/env bash
# The first five minutes with miptree, after `pip install 'miptree[cli]'`: from a table in a
# CSV file to a tree, its check, its predictions and its exports. CI runs this on the built
# wheel. The files are left in the folder that is given, or in one that is made.
set -euo pipefail
folder=${1:-$(mktemp -d)}
mkdir -p "$folder"
cd "$folder"

echo "== A table: the wines of scikit-learn, three of four rows to learn from"
python - <<'PYTHON'
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split

wine = load_wine(as_frame=True)
table = wine.data.assign(kind=wine.target_names[wine.target])
learn, test = train_test_split(table, stratify=table["kind"], random_state=0)
learn.to_csv("learn.csv", index=False)
test.to_csv("test.csv", index=False)
PYTHON

echo "== A tree"
miptree fit learn.csv --target kind --depth 2 --time-limit 10 --out model.json
miptree show model.json

echo "== Is it true? All of it is computed again from the table"
miptree verify model.json learn.csv

echo "== Rows that it has not seen"
miptree evaluate model.json test.csv
miptree predict model.json test.csv --out predictions.csv
head -n 3 predictions.csv

echo "== Take it elsewhere"
miptree report model.json learn.csv --out page.html
miptree export model.json --to sql
miptree export model.json --to rules

echo "== Done: $(ls | tr '\n' ' ')in $PWD"
