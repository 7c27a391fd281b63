# %% [markdown]
# # Credit: which loans fail, and what would have to change?
#
# A bank lends small sums. Who is refused may ask why, the auditors ask whether women
# and men are treated alike, and nobody would accept a rule by which more income makes
# it harder to get a loan. The table is made up, so that you can run this anywhere:
# 1,200 loans, of which some failed. The loan of an employee fails if the instalment is
# more than income and years in the job can carry; that of the self-employed, whose
# income goes up and down, if savings cannot carry it; one in 25 turns out otherwise.
#
# It was made so that a tree of two levels suits it, and drawn anew where it did not:
# the figures show how the package is used, not how good it is in general.

# %%
import numpy as np
import pandas as pd

rng = np.random.default_rng(3)
rows = 1200
loans = pd.DataFrame(
    {
        "income": rng.gamma(7, 380, rows).round(-1),
        "savings": rng.gamma(2, 2500, rows).round(-2),
        "instalment": rng.gamma(4, 110, rows).round(-1),
        "years employed": rng.integers(0, 21, rows),
        "late payments": rng.poisson(0.8, rows),
        "job": rng.choice(["employee", "self-employed"], rows, p=[0.6, 0.4]),
        "sex": rng.choice(["female", "male"], rows),
    }
)
carries = np.where(
    loans["job"] == "employee",
    loans["income"] / 4 + 10 * loans["years employed"],
    loans["savings"] / 10,
)
can_pay = loans["instalment"] + 60 * loans["late payments"] < carries
outcome = np.where(can_pay ^ (rng.random(rows) < 0.04), "paid", "failed")
print(loans.assign(outcome=outcome).head(4).to_string(index=False))
print(f"{np.mean(outcome == 'failed'):.0%} of the loans failed")

# %% [markdown]
# Logistic regression and CART, the usual trees, set the mark on rows that were held
# back:

# %%
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

train, new, y, y_new = train_test_split(loans, outcome, test_size=0.4, random_state=0)
for name, model in {
    "logistic regression": LogisticRegression(),
    "CART of depth 3    ": DecisionTreeClassifier(max_depth=3, random_state=0),
}.items():
    numbers = make_column_transformer(
        (OneHotEncoder(drop="if_binary"), ["job", "sex"]),
        remainder=StandardScaler(),
    )
    fitted = make_pipeline(numbers, model).fit(train, y)
    print(f"{name} {fitted.score(new, y_new):.1%} right on new loans")

# %% [markdown]
# ## A tree that keeps the rules of the house
#
# Four rules: sex is not used; more income never hurts and a late payment never helps;
# each leaf holds 30 loans at least; and the rates of women and of men who are called
# safe differ by at most 4 points from the overall rate. They hold exactly on the
# training rows. (`max_iter` makes the result the same on every machine; you would give
# a `time_limit`.)

# %%
from textwrap import fill

from miptree import OptimalTreeClassifier, export_text
from miptree.constraints import DemographicParity, ForbidFeatures, MinLeaf, Monotone

clf = OptimalTreeClassifier(
    max_depth=2,
    max_features_per_split=4,
    constraints=[
        ForbidFeatures(["sex"]),
        Monotone({"income": +1, "late payments": -1}, "paid"),
        MinLeaf(rows=30),
        DemographicParity(difference_bound=0.04, positive_label="paid"),
    ],
    solver="search",
    max_iter=100,
    time_limit=None,
    random_state=0,
)
clf.fit(train, y, sensitive_features=train["sex"])
print(export_text(clf))
print(f"{clf.score(new, y_new):.1%} right on new loans")

# %% [markdown]
# In the units of the first term a split can be read aloud: four instalments and some
# 200 for each late payment must be covered by the income and 44 for each year in the
# job. The table was made with 4, 240 and 40, and for the self-employed with 10 and 600.

# %%
for rule in clf.certificate_.rules:
    print(fill(rule, 88, initial_indent="* ", subsequent_indent="  "))

# %%
from miptree.plot import plot_tree

axes = plot_tree(clf, train, y)

# %% [markdown]
# ## Why was I refused?
#
# `explain` says which splits decided, what each number added, and what the applicant
# could change: here the past is fixed, the instalment and the savings are not.

# %%
from miptree import explain

refused = new[clf.predict(new) == "failed"].head(1)
past = ["income", "job", "late payments", "years employed"]
print(explain(clf, refused, fixed=past))

# %% [markdown]
# ## Into the database
#
# The tree is one SQL expression, which decides as `predict` does, to the last bit.

# %%
from miptree import export_sql

print(export_sql(clf))
