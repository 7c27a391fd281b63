"""Write docs/points-examples.md: three points trees as they are printed.

Run: python docs/make_points_examples.py DATA, where DATA is a folder with the tables
dev/fair-german.csv and paper/heart-disease-cleveland.csv, such as $MIPTREE_DATA. It
takes some minutes.
"""

import sys
from pathlib import Path
from textwrap import fill

import pandas as pd
from sklearn.datasets import load_wine

from miptree import PointsTreeClassifier, export_rules, export_text

HERE = Path(__file__).parent

CREDIT = {
    "checking_status": {
        "A11": "overdrawn",
        "A12": "below 200",
        "A13": "200 or more",
        "A14": "no account",
    },
    "credit_history": {
        "A30": "no credits",
        "A31": "all paid here",
        "A32": "paid so far",
        "A33": "delays",
        "A34": "critical",
    },
    "purpose": {
        "A40": "new car",
        "A41": "used car",
        "A42": "furniture",
        "A43": "radio or tv",
        "A44": "appliances",
        "A45": "repairs",
        "A46": "education",
        "A48": "retraining",
        "A49": "business",
        "A410": "other",
    },
    "savings_status": {
        "A61": "below 100",
        "A62": "100 to 500",
        "A63": "500 to 1000",
        "A64": "1000 or more",
        "A65": "unknown",
    },
    "employment": {
        "A71": "none",
        "A72": "below 1 year",
        "A73": "1 to 4 years",
        "A74": "4 to 7 years",
        "A75": "7 years or more",
    },
    "other_parties": {"A101": "none", "A102": "co-applicant", "A103": "guarantor"},
    "property_magnitude": {
        "A121": "house",
        "A122": "savings contract",
        "A123": "car",
        "A124": "none",
    },
    "other_payment_plans": {"A141": "bank", "A142": "shops", "A143": "none"},
    "housing": {"A151": "rent", "A152": "own", "A153": "free"},
}
"""Columns of the German credit table that a bank may ask for, and their codes."""
CREDIT_NAMES = {
    "checking_status": "current account",
    "credit_history": "credit history",
    "savings_status": "savings",
    "other_parties": "guarantee",
    "property_magnitude": "property",
    "other_payment_plans": "instalments elsewhere",
    "duration": "months",
    "credit_amount": "amount",
    "installment_commitment": "rate in % of income",
    "residence_since": "years at address",
    "existing_credits": "credits here",
    "num_dependents": "dependents",
}
LEFT_OUT = ["personal_status", "foreign_worker", "own_telephone", "job"]

HEART = {
    "sex": ("sex", {0: "female", 1: "male"}),
    "cp": (
        "chest pain",
        {1: "typical", 2: "atypical", 3: "not of the heart", 4: "none"},
    ),
    "fbs": ("fasting sugar over 120", {0: "no", 1: "yes"}),
    "restecg": ("ECG at rest", {0: "normal", 1: "ST-T", 2: "hypertrophy"}),
    "exang": ("pain on exercise", {0: "no", 1: "yes"}),
    "slope": ("ST slope", {1: "up", 2: "flat", 3: "down"}),
    "thal": ("thallium scan", {3: "normal", 6: "fixed defect", 7: "reversible defect"}),
}
HEART_NAMES = {
    "trestbps": "blood pressure",
    "chol": "cholesterol",
    "thalach": "highest heart rate",
    "oldpeak": "ST depression",
    "ca": "vessels coloured",
}


def credit(folder: Path) -> tuple[pd.DataFrame, pd.Series]:
    """Read the German credit table; its classes are 'good' and 'bad'."""
    table = pd.read_csv(folder / "dev" / "fair-german.csv")
    y = table.pop("target").map({1: "good", 2: "bad"})
    for name, codes in CREDIT.items():
        table[name] = table[name].map(codes)
    return table.drop(columns=LEFT_OUT).rename(columns=CREDIT_NAMES), y


def heart(folder: Path) -> tuple[pd.DataFrame, pd.Series]:
    """Read Cleveland's patients; their classes are 'healthy' and 'ill'."""
    table = pd.read_csv(folder / "paper" / "heart-disease-cleveland.csv")
    y = table.pop("target").gt(0).map({False: "healthy", True: "ill"})
    for name, (_, codes) in HEART.items():
        table[name] = table[name].map(codes)
    names = HEART_NAMES | {code: name for code, (name, _) in HEART.items()}
    return table.rename(columns=names), y


def wine(folder: Path) -> tuple[pd.DataFrame, pd.Series]:
    """Return scikit-learn's wines of three growers."""
    found = load_wine(as_frame=True)
    named = {"od280/od315_of_diluted_wines": "od280"}
    columns = {name: named.get(name, name).replace("_", " ") for name in found.data}
    y = found.target.add(1).map("grower {}".format)
    return found.data.rename(columns=columns), y


PAGE = """# Three points trees

Splits of a points tree are small scorecards: plain conditions where that says it all,
and otherwise points to add up. These were fitted on all rows of their tables, of depth
2, by `python docs/make_points_examples.py`, and are shown as `export_text` prints them.
A person needs no more than the text: begin at STEP 1. The counts are training rows.

{examples}
"""

EXAMPLES = {
    "Credit": (
        credit,
        {"max_features_per_split": 2, "feature_penalty": 3.0},
        "1000 loans of a German bank (Statlog), good ones and bad ones; amounts are in "
        "marks. Sex, nationality, job and telephone were left out.",
    ),
    "Health": (
        heart,
        {"feature_penalty": 3.0},
        "297 patients of a clinic in Cleveland, healthy or with a heart disease.",
    ),
    "Wine": (wine, {"feature_penalty": 1.0}, "178 wines of three growers."),
}


def main(folder: Path) -> None:
    """Fit the trees, without a clock, and write them down."""
    found = []
    for name, (read, options, about) in EXAMPLES.items():
        X, y = read(folder)
        clf = PointsTreeClassifier(time_limit=None, n_jobs=-1, **options).fit(X, y)
        given = ", ".join(f"{key}={value}" for key, value in options.items())
        parts = [f"## {name}", fill(about, 88), _block(export_text(clf))]
        parts += [fill(f"{clf.certificate_}", 88), f"With `{given}`. As sentences:"]
        found.append("\n\n".join([*parts, _block(export_rules(clf))]))
    page = PAGE.format(examples="\n\n".join(found))
    (HERE / "points-examples.md").write_text(page, encoding="utf-8")


def _block(text: str) -> str:
    return f"```text\n{text}\n```"


if __name__ == "__main__":
    main(Path(sys.argv[1]))
